using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.InteropServices;

namespace AceMq.Core.Native
{
    /// <summary>
    /// Finds libacemq, checks that it is one that this assembly was built for, and makes the runtime use exactly that file.
    /// </summary>
    /// <remarks>
    /// netstandard2.0 has no way to say which file a <see cref="DllImportAttribute"/> means. Each runtime has one of its own:
    /// .NET Core 3 and later a resolver, reached by reflection; .NET Framework takes a library of that name that is loaded already.
    /// </remarks>
    internal static class NativeLoader
    {
        /// <summary>What <see cref="DllImportAttribute"/>s call the library.</summary>
        internal const string Library = "acemq";

        /// <summary>The ABI that this assembly was built for: another major version, or a smaller minor one, does not fit.</summary>
        internal const uint AbiMajor = 1;

        /// <summary>See <see cref="AbiMajor"/>.</summary>
        internal const uint AbiMinor = 0;

        /// <summary>The variable that names the file to try first.</summary>
        internal const string PathVariable = "ACEMQ_LIBRARY_PATH";

        private static readonly Outcome Loaded = Load();

        /// <summary>The file, or the name under which the system found it.</summary>
        internal static string LibraryPath
        {
            get
            {
                Require();
                return Loaded.Path;
            }
        }

        /// <summary>Throws when there is no library to call. Every way into the library passes here first.</summary>
        internal static void Require()
        {
            if (Loaded.Code != null)
            {
                throw new AceMqException(Loaded.Code, Loaded.Message, Loaded.Help);
            }
        }

        private sealed class Outcome
        {
            internal string Path;
            internal string Code;
            internal string Message;
            internal string Help;
        }

        private static Outcome Load()
        {
            LibrarySystem system;
            try
            {
                system = LibrarySystem.OfThisRuntime();
            }
            catch (Exception error) when (!(error is OutOfMemoryException))
            {
                return Failed(
                    "library_not_loaded",
                    "libacemq cannot be loaded by this runtime: " + OneLine(error.Message),
                    "run on .NET Core 3.0 or later, or on .NET Framework 4.6.2 or later");
            }
            var attempts = new List<string>();
            foreach (var candidate in Candidates(Environment.GetEnvironmentVariable(PathVariable), Folders(), Platform.Current))
            {
                if (candidate.IsFile && !File.Exists(candidate.Name))
                {
                    attempts.Add(candidate + ": no such file");
                    continue;
                }
                IntPtr library;
                try
                {
                    library = system.Open(candidate.Name, candidate.IsFile);
                }
                catch (Exception error) when (!(error is OutOfMemoryException))
                {
                    attempts.Add(candidate + ": " + OneLine(error.Message));
                    continue;
                }
                var symbol = system.Symbol(library, "acemq_abi_version");
                if (symbol == IntPtr.Zero)
                {
                    attempts.Add(candidate + ": is not libacemq, it has no acemq_abi_version");
                    continue;
                }
                var found = ((AbiVersion)Marshal.GetDelegateForFunctionPointer(symbol, typeof(AbiVersion)))();
                if (found >> 16 != AbiMajor || (found & 0xffff) < AbiMinor)
                {
                    return Failed(
                        "abi_mismatch",
                        candidate + " has ABI " + Abi(found) + ", AceMq.Core was built for " + Abi(AbiMajor << 16 | AbiMinor),
                        "install the libacemq that comes with this version of AceMq.Core");
                }
                system.Use(library, candidate.Name);
                return new Outcome { Path = candidate.Name };
            }
            return Failed(
                "library_not_loaded",
                "libacemq cannot be loaded; tried " + string.Join("; ", attempts),
                "install the package AceMq.Core for " + Platform.Current.Rid + ", or set " + PathVariable + " to the library's file");
        }

        /// <summary>Where the library may be, in the order in which it is looked for.</summary>
        internal static IEnumerable<Candidate> Candidates(string variable, IEnumerable<string> folders, Platform platform)
        {
            if (!string.IsNullOrEmpty(variable))
            {
                // A bare name is a file of the working folder, not one of the system's.
                yield return new Candidate(Path.GetFullPath(variable), true, PathVariable + "=" + variable);
            }
            foreach (var folder in folders)
            {
                // As a package is laid out, as publishing for one platform flattens it, and from lib/<framework> in a package.
                yield return Candidate.File(Path.Combine(folder, "runtimes", platform.Rid, "native", platform.FileName));
                yield return Candidate.File(Path.Combine(folder, platform.FileName));
                var package = Path.GetDirectoryName(Path.GetDirectoryName(folder));
                if (package != null && Path.GetFileName(Path.GetDirectoryName(folder)) == "lib")
                {
                    yield return Candidate.File(Path.Combine(package, "runtimes", platform.Rid, "native", platform.FileName));
                }
            }
            foreach (var name in platform.SystemNames)
            {
                yield return new Candidate(name, false, name + " (by name)");
            }
        }

        private static IEnumerable<string> Folders()
        {
            var folders = new List<string>();
            // Empty in an application that is bundled into one file.
            var assembly = typeof(NativeLoader).GetTypeInfo().Assembly.Location;
            foreach (var folder in new[] { string.IsNullOrEmpty(assembly) ? null : Path.GetDirectoryName(assembly), AppContext.BaseDirectory })
            {
                var plain = folder?.TrimEnd(Path.DirectorySeparatorChar, Path.AltDirectorySeparatorChar);
                if (!string.IsNullOrEmpty(plain) && !folders.Contains(plain))
                {
                    folders.Add(plain);
                }
            }
            return folders;
        }

        private static Outcome Failed(string code, string message, string help)
        {
            return new Outcome { Code = code, Message = message, Help = help };
        }

        private static string Abi(uint version)
        {
            return (version >> 16) + "." + (version & 0xffff);
        }

        private static string OneLine(string message)
        {
            // The runtimes' advice comes first, the reason last.
            var lines = message.Split(new[] { '\r', '\n' }, StringSplitOptions.RemoveEmptyEntries);
            return lines.Length == 0 ? "no reason given" : lines[lines.Length - 1].Trim();
        }

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate uint AbiVersion();
    }

    /// <summary>A place to look for the library.</summary>
    internal struct Candidate
    {
        internal Candidate(string name, bool isFile, string shown)
        {
            Name = name;
            IsFile = isFile;
            this.shown = shown;
        }

        internal static Candidate File(string path)
        {
            return new Candidate(path, true, path);
        }

        private readonly string shown;

        internal string Name { get; }

        internal bool IsFile { get; }

        public override string ToString()
        {
            return shown;
        }
    }
}
