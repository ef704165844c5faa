using System;
using System.Reflection;
using System.Runtime.InteropServices;

namespace AceMq.Core.Native
{
    /// <summary>How a runtime opens libraries, and how it is told which one a <see cref="DllImportAttribute"/> means.</summary>
    internal abstract class LibrarySystem
    {
        /// <summary>Opens a library, or throws with the reason.</summary>
        internal abstract IntPtr Open(string name, bool isFile);

        /// <summary>A function of it, or zero.</summary>
        internal abstract IntPtr Symbol(IntPtr library, string name);

        /// <summary>From now on this is the library that this assembly imports from.</summary>
        internal abstract void Use(IntPtr library, string name);

        internal static LibrarySystem OfThisRuntime()
        {
            var modern = Type.GetType("System.Runtime.InteropServices.NativeLibrary, System.Runtime.InteropServices", false);
            if (modern != null)
            {
                return new ModernSystem(modern);
            }
            if (Type.GetType("Mono.Runtime") != null)
            {
                // It looks imports up when it compiles the caller, before anything could be loaded.
                throw new PlatformNotSupportedException("Mono is not supported");
            }
            return new FrameworkSystem();
        }

        /// <summary>.NET Core 3.0 and later.</summary>
        private sealed class ModernSystem : LibrarySystem
        {
            private static IntPtr used;

            private readonly Type type;
            private readonly Func<string, IntPtr> open;
            private readonly TrySymbol symbol;

            private delegate bool TrySymbol(IntPtr library, string name, out IntPtr address);

            internal ModernSystem(Type nativeLibrary)
            {
                type = nativeLibrary;
                open = (Func<string, IntPtr>)Method("Load", typeof(string)).CreateDelegate(typeof(Func<string, IntPtr>));
                var tryGetExport = Method("TryGetExport", typeof(IntPtr), typeof(string), typeof(IntPtr).MakeByRefType());
                symbol = (TrySymbol)tryGetExport.CreateDelegate(typeof(TrySymbol));
            }

            private MethodInfo Method(string name, params Type[] parameters)
            {
                return type.GetMethod(name, parameters) ?? throw new MissingMethodException(type.FullName, name);
            }

            internal override IntPtr Open(string name, bool isFile)
            {
                return open(name);
            }

            internal override IntPtr Symbol(IntPtr library, string name)
            {
                return symbol(library, name, out var address) ? address : IntPtr.Zero;
            }

            internal override void Use(IntPtr library, string name)
            {
                used = library;
                var register = type.GetMethod("SetDllImportResolver");
                var resolver = register.GetParameters()[1].ParameterType;
                var resolve = typeof(ModernSystem).GetMethod(nameof(Resolve), BindingFlags.NonPublic | BindingFlags.Static);
                register.Invoke(null, new object[] { typeof(ModernSystem).Assembly, resolve.CreateDelegate(resolver) });
            }

            private static IntPtr Resolve(string name, Assembly assembly, DllImportSearchPath? searchPath)
            {
                return name == NativeLoader.Library ? used : IntPtr.Zero;
            }
        }

        /// <summary>.NET Framework. A library that is loaded already serves every import of its name.</summary>
        private sealed class FrameworkSystem : LibrarySystem
        {
            private const uint LoadWithAlteredSearchPath = 8;

            internal override IntPtr Open(string name, bool isFile)
            {
                var library = Kernel.LoadLibraryEx(name, IntPtr.Zero, isFile ? LoadWithAlteredSearchPath : 0);
                if (library == IntPtr.Zero)
                {
                    throw new DllNotFoundException("Windows error " + Marshal.GetLastWin32Error());
                }
                return library;
            }

            internal override IntPtr Symbol(IntPtr library, string name)
            {
                return Kernel.GetProcAddress(library, name);
            }

            internal override void Use(IntPtr library, string name)
            {
            }

            private static class Kernel
            {
                [DllImport("kernel32", EntryPoint = "LoadLibraryExW", CharSet = CharSet.Unicode, SetLastError = true, ExactSpelling = true)]
                internal static extern IntPtr LoadLibraryEx(string name, IntPtr reserved, uint flags);

                [DllImport("kernel32", CharSet = CharSet.Ansi, SetLastError = true, ExactSpelling = true, BestFitMapping = false)]
                internal static extern IntPtr GetProcAddress(IntPtr library, string name);
            }
        }
    }
}
