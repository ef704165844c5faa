using System;
using System.IO;
using System.Runtime.InteropServices;

namespace AceMq.Core.Native
{
    /// <summary>An operating system and processor, as packages name them.</summary>
    internal sealed class Platform
    {
        private Platform(string rid, string fileName, params string[] systemNames)
        {
            Rid = rid;
            FileName = fileName;
            SystemNames = systemNames;
        }

        /// <summary>The runtime identifier, as in <c>linux-x64</c>.</summary>
        internal string Rid { get; }

        /// <summary>The library's file in a package.</summary>
        internal string FileName { get; }

        /// <summary>What the system's loader is asked for: with the major version of the ABI, then without.</summary>
        internal string[] SystemNames { get; }

        internal static readonly Platform Current = Here();

        private static Platform Here()
        {
            var processor = RuntimeInformation.ProcessArchitecture.ToString().ToLowerInvariant();
            var major = NativeLoader.AbiMajor;
            if (RuntimeInformation.IsOSPlatform(OSPlatform.Windows))
            {
                return new Platform("win-" + processor, "acemq.dll", "acemq");
            }
            if (RuntimeInformation.IsOSPlatform(OSPlatform.OSX))
            {
                return new Platform("osx-" + processor, "libacemq.dylib", "libacemq." + major + ".dylib", "libacemq.dylib");
            }
            var rid = (IsMusl() ? "linux-musl-" : "linux-") + processor;
            return new Platform(rid, "libacemq.so", "libacemq.so." + major, "libacemq.so");
        }

        /// <summary>Whether this process runs on musl, whose programs cannot load a library made for glibc.</summary>
        private static bool IsMusl()
        {
            try
            {
                var maps = File.ReadAllText("/proc/self/maps");
                return maps.IndexOf("/ld-musl-", StringComparison.Ordinal) >= 0;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                return false;
            }
        }
    }
}
