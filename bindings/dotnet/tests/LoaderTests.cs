using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using AceMq.Core.Native;

namespace AceMq.Core.Tests
{
    /// <summary>Which library is loaded, and what is said when none can be. Each case is a process of its own.</summary>
    internal static class LoaderTests
    {
        private static string Assembly
        {
            get { return typeof(LoaderTests).Assembly.Location; }
        }

        /// <summary>Loads in another process, from a folder that holds this program and, where said, a library.</summary>
        private static string Load(string variable, Action<string> prepare = null)
        {
            var folder = Path.Combine(Path.GetTempPath(), "acemq-dotnet-" + Guid.NewGuid().ToString("N"));
            Directory.CreateDirectory(folder);
            try
            {
                foreach (var file in new[] { Assembly, typeof(Engine).Assembly.Location })
                {
                    File.Copy(file, Path.Combine(folder, Path.GetFileName(file)));
                }
                prepare?.Invoke(folder);
                var config = Path.Combine(Path.GetDirectoryName(Assembly), "net8.runtimeconfig.json");
                var start = new ProcessStartInfo(Process.GetCurrentProcess().MainModule.FileName)
                {
                    Arguments = "exec --runtimeconfig \"" + config + "\" \"" + Path.Combine(folder, Path.GetFileName(Assembly)) + "\" load",
                    RedirectStandardOutput = true,
                    UseShellExecute = false,
                };
                start.EnvironmentVariables.Remove(NativeLoader.PathVariable);
                if (variable != null)
                {
                    start.EnvironmentVariables[NativeLoader.PathVariable] = variable;
                }
                using (var process = Process.Start(start))
                {
                    var printed = process.StandardOutput.ReadToEnd();
                    Check.True(process.WaitForExit(60000), "the process ends");
                    return printed.Replace(folder, "FOLDER");
                }
            }
            finally
            {
                Directory.Delete(folder, true);
            }
        }

        /// <summary>A library with one function.</summary>
        private static string Compiled(string folder, string source)
        {
            var file = Path.Combine(folder, "libacemq.so");
            var start = new ProcessStartInfo("cc", "-shared -fPIC -x c - -o \"" + file + "\"") { RedirectStandardInput = true, UseShellExecute = false };
            using (var compiler = Process.Start(start))
            {
                compiler.StandardInput.Write(source);
                compiler.StandardInput.Close();
                Check.True(compiler.WaitForExit(60000) && compiler.ExitCode == 0, "cc compiles");
            }
            return file;
        }

        private static void Copy(string to)
        {
            Directory.CreateDirectory(Path.GetDirectoryName(to));
            File.Copy(Engine.LibraryPath, to);
        }

        public static void TheVariableNamesTheLibrary()
        {
            var path = Path.GetFullPath(Engine.LibraryPath);
            Check.Equal(Engine.Version + " " + path + "\n", Load(path));
        }

        public static void ANameInTheVariableIsAFileOfTheWorkingFolder()
        {
            // A bare name would be looked for in the system's places.
            var candidate = NativeLoader.Candidates("libacemq.so", new string[0], Platform.Current).First();
            Check.Equal(Path.Combine(Directory.GetCurrentDirectory(), "libacemq.so"), candidate.Name);
            Check.Equal("ACEMQ_LIBRARY_PATH=libacemq.so", candidate.ToString());
        }

        public static void APackagesFolderAndAFlatOneAreFound()
        {
            Check.Equal(
                Engine.Version + " FOLDER/runtimes/" + Platform.Current.Rid + "/native/libacemq.so\n",
                Load(null, folder => Copy(Path.Combine(folder, "runtimes", Platform.Current.Rid, "native", "libacemq.so"))));
            Check.Equal(
                Engine.Version + " FOLDER/libacemq.so\n",
                Load(null, folder => Copy(Path.Combine(folder, "libacemq.so"))));
        }

        public static void APackageThatIsNotCopiedIsFoundFromItsLibFolder()
        {
            var platform = Platform.Current;
            var candidates = NativeLoader.Candidates(null, new[] { "/packages/acemq.core/1.0.0/lib/netstandard2.0" }, platform);
            var wanted = "/packages/acemq.core/1.0.0/runtimes/" + platform.Rid + "/native/" + platform.FileName;
            Check.True(candidates.Any(candidate => candidate.Name == wanted), wanted);
        }

        public static void TheVariableWinsOverThePackage()
        {
            var path = Path.GetFullPath(Engine.LibraryPath);
            var printed = Load(path, folder => Copy(Path.Combine(folder, "libacemq.so")));
            Check.Equal(Engine.Version + " " + path + "\n", printed);
        }

        public static void AFileThatTheVariableNamesAndThatIsNotThereLeavesThePackages()
        {
            var printed = Load("/nowhere/libacemq.so", folder => Copy(Path.Combine(folder, "libacemq.so")));
            Check.Equal(Engine.Version + " FOLDER/libacemq.so\n", printed);
        }

        public static void AFileThatTheVariableNamesIsAmongTheAttempts()
        {
            var printed = Load("/nowhere/libacemq.so");
            Check.Contains("tried ACEMQ_LIBRARY_PATH=/nowhere/libacemq.so: no such file; FOLDER/runtimes/", printed);
        }

        public static void WithoutALibraryEveryAttemptIsListed()
        {
            var printed = Load(null);
            Check.Contains("library_not_loaded\nlibacemq cannot be loaded; tried FOLDER/runtimes/" + Platform.Current.Rid + "/native/libacemq.so: no such file; ", printed);
            Check.Contains("; FOLDER/libacemq.so: no such file; ", printed);
            Check.Contains("; libacemq.so.1 (by name): ", printed);
            Check.Contains("; libacemq.so (by name): ", printed);
            Check.Equal(2, printed.Count(character => character == '\n'));
        }

        public static void WhatIsNoLibraryIsSaidToBeNone()
        {
            var printed = Load(null, folder => File.WriteAllText(Path.Combine(folder, "libacemq.so"), "not a library"));
            Check.Contains("FOLDER/libacemq.so: ", printed);
            Check.True(!printed.Contains("libacemq.so: no such file; libacemq.so.1"), printed);
            printed = Load(null, folder => Compiled(folder, "int other(void) { return 1; }"));
            Check.Contains("FOLDER/libacemq.so: is not libacemq, it has no acemq_abi_version", printed);
        }

        public static void AnotherAbiIsRefusedWithFileAndBothNumbers()
        {
            foreach (var found in new[] { "0.9", "2.0" })
            {
                var numbers = found.Split('.');
                var source = "unsigned acemq_abi_version(void) { return " + numbers[0] + " << 16 | " + numbers[1] + "; }";
                Check.Equal(
                    "abi_mismatch\nFOLDER/libacemq.so has ABI " + found + ", AceMq.Core was built for 1.0; "
                    + "install the libacemq that comes with this version of AceMq.Core\n",
                    Load(null, folder => Compiled(folder, source)));
            }
        }

        public static void TheNamesOfPlatformsAreThoseOfPackages()
        {
            Check.True(new[] { "linux-x64", "linux-arm64", "linux-musl-x64", "osx-arm64", "win-x64" }.Contains(Platform.Current.Rid), Platform.Current.Rid);
        }
    }
}
