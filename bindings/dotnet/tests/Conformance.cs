using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using AceMq.Core.Json;

namespace AceMq.Core.Tests
{
    /// <summary>The fixtures of <c>conformance/</c>, through the public surface of AceMq.Core.</summary>
    internal static class Conformance
    {
        internal static int Run(string folder, string results)
        {
            var index = Read(Path.Combine(folder, "index.json"));
            var wanted = (long)index["cases"];
            long run = 0;
            long failed = 0;
            Check.Equal(index["spec_version"], Engine.SpecVersion);
            foreach (var entry in index.Objects("suites"))
            {
                long inSuite = 0;
                foreach (var testCase in Read(Path.Combine(folder, entry.Text("file"))).Objects("cases"))
                {
                    inSuite++;
                    var why = Failure(entry.Text("operation"), testCase);
                    if (why != null)
                    {
                        failed++;
                        Console.WriteLine("FAILED " + testCase.Text("id") + ": " + testCase.Text("description") + "\n    " + why);
                    }
                }
                if (inSuite != (long)entry["cases"])
                {
                    Console.WriteLine(entry.Text("suite") + ": " + inSuite + " cases ran, the index has " + entry["cases"]);
                }
                run += inSuite;
            }
            Console.WriteLine(TypedCalls.Direct + " of " + run + " cases through typed functions; the others have inputs that only Engine.Call takes, as a duration that no TimeSpan holds");
            if (results != null)
            {
                File.WriteAllText(results, "dotnet\t" + run + "\t" + wanted + "\t" + failed + "\n");
            }
            Console.WriteLine((run - failed) + " passed, " + failed + " failed");
            return run == wanted && failed == 0 ? 0 : 1;
        }

        private static JsonObject Read(string path)
        {
            return (JsonObject)JsonReader.Read(File.ReadAllText(path));
        }

        /// <summary>Why a case failed; null when it passed.</summary>
        private static string Failure(string operation, JsonObject testCase)
        {
            object output;
            try
            {
                output = TypedCalls.Call(operation, testCase.Object("input"));
            }
            catch (AceMqException error)
            {
                var expected = testCase.OptionalObject("error");
                return expected == null ? "failed: " + error.Code + ": " + error.Message : WrongError(expected, error);
            }
            catch (Exception error)
            {
                return "failed: " + error;
            }
            return testCase.ContainsKey("expect") ? Check.Difference(testCase["expect"], output, "", false) : "did not fail";
        }

        private static string WrongError(JsonObject expected, AceMqException error)
        {
            var code = expected.Optional("code") as string;
            if (code != null && code != error.Code)
            {
                return "expected the code " + code + ", was " + error.Code;
            }
            var inFields = Check.Difference(expected.OptionalObject("fields") ?? JsonObject.Empty, error.Fields, "fields", false);
            if (inFields != null || !expected.ContainsKey("problems"))
            {
                return inFields;
            }
            var left = error.Problems.ToList();
            foreach (var problem in expected.Objects("problems"))
            {
                var fields = problem.OptionalObject("fields") ?? JsonObject.Empty;
                var found = left.FindIndex(
                    other => other.Code == problem.Text("code") && Check.Difference(fields, other.Fields, "", false) == null);
                if (found < 0)
                {
                    return "there is no problem " + problem + " but " + string.Join(", ", error.Problems.Select(other => other.Code));
                }
                left.RemoveAt(found);
            }
            return left.Count == 0 ? null : "there is also the problem " + left[0].Code;
        }
    }
}
