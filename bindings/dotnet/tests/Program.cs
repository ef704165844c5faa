using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;

namespace AceMq.Core.Tests
{
    /// <summary>
    /// Runs every public static method of the classes named …Tests, or those that an argument is part of the name of, and prints
    /// <c>N passed, N failed</c>.
    /// </summary>
    /// <remarks>
    /// <c>conformance FOLDER [RESULTS]</c> runs the fixtures instead, <c>memory</c> the loops that watch memory, and <c>load</c>
    /// only loads the library: it prints the engine's version, or what went wrong.
    /// </remarks>
    internal static class Program
    {
        private static int Main(string[] arguments)
        {
            switch (arguments.FirstOrDefault())
            {
                case "conformance":
                    return Conformance.Run(arguments[1], arguments.ElementAtOrDefault(2));
                case "memory":
                    return Report(new[] { typeof(Memory) }, "");
                case "load":
                    return Load();
                default:
                    var all = typeof(Program).Assembly.GetTypes().Where(type => type.Name.EndsWith("Tests", StringComparison.Ordinal));
                    return Report(all.OrderBy(type => type.Name), arguments.FirstOrDefault() ?? "");
            }
        }

        private static int Report(IEnumerable<Type> types, string filter)
        {
            var passed = 0;
            var failed = 0;
            foreach (var type in types)
            {
                foreach (var test in type.GetMethods(BindingFlags.Public | BindingFlags.Static | BindingFlags.DeclaredOnly))
                {
                    var name = type.Name + "." + test.Name;
                    if (name.IndexOf(filter, StringComparison.OrdinalIgnoreCase) < 0)
                    {
                        continue;
                    }
                    try
                    {
                        test.Invoke(null, null);
                        passed++;
                    }
                    catch (TargetInvocationException error)
                    {
                        failed++;
                        Console.WriteLine("FAILED " + name + "\n" + error.InnerException);
                    }
                }
            }
            Console.WriteLine(passed + " passed, " + failed + " failed");
            return failed == 0 && passed > 0 ? 0 : 1;
        }

        private static int Load()
        {
            try
            {
                Console.WriteLine(Engine.Version + " " + Engine.LibraryPath);
                return 0;
            }
            catch (AceMqException error)
            {
                Console.WriteLine(error.Code + "\n" + error.Message);
                return 1;
            }
        }
    }
}
