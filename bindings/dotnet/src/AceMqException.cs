using System;
using System.Collections.Generic;
using System.Linq;
using AceMq.Core.Json;

namespace AceMq.Core
{
    /// <summary>One thing that is wrong.</summary>
    public sealed class AceMqProblem
    {
        internal AceMqProblem(string code, string message, string help, IReadOnlyDictionary<string, object> fields)
        {
            Code = code;
            Message = message;
            Help = help;
            Fields = fields;
        }

        internal static AceMqProblem Of(JsonObject problem)
        {
            return new AceMqProblem(problem.Text("code"), problem.Text("message"), problem.Text("help"), problem.Object("fields"));
        }

        /// <summary>The stable code, as in <c>name_too_long</c>.</summary>
        public string Code { get; }

        /// <summary>What is wrong, one sentence.</summary>
        public string Message { get; }

        /// <summary>The way out.</summary>
        public string Help { get; }

        /// <summary>The particulars by name: text, numbers, booleans, lists and dictionaries.</summary>
        public IReadOnlyDictionary<string, object> Fields { get; }

        /// <summary>Message and help.</summary>
        public override string ToString()
        {
            return Help.Length == 0 ? Message : Message + "; " + Help;
        }
    }

    /// <summary>
    /// The engine refuses an input, or cannot be used at all. <see cref="Code"/> says which problem it is, in every language
    /// alike, and <see cref="Problems"/> holds all of them where there are several.
    /// </summary>
    public sealed class AceMqException : Exception
    {
        internal AceMqException(string code, string message, string help)
            : this(new[] { new AceMqProblem(code, message, help, JsonObject.Empty) })
        {
        }

        private AceMqException(AceMqProblem[] problems)
            : base(string.Join("\n", problems.Select(problem => problem.ToString())))
        {
            Problems = Array.AsReadOnly(problems);
        }

        internal static AceMqException OfDetail(string detail)
        {
            var problems = ((JsonObject)JsonReader.Read(detail)).Objects("problems").Select(AceMqProblem.Of).ToArray();
            return new AceMqException(problems);
        }

        internal static AceMqException Internal(string what)
        {
            return new AceMqException("internal", what, "report this with what was called");
        }

        /// <summary>The stable code of the first problem.</summary>
        public string Code
        {
            get { return Problems[0].Code; }
        }

        /// <summary>The way out of the first problem.</summary>
        public string Help
        {
            get { return Problems[0].Help; }
        }

        /// <summary>The particulars of the first problem.</summary>
        public IReadOnlyDictionary<string, object> Fields
        {
            get { return Problems[0].Fields; }
        }

        /// <summary>Everything that is wrong, at least one thing.</summary>
        public IReadOnlyList<AceMqProblem> Problems { get; }
    }
}
