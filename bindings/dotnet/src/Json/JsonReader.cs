using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace AceMq.Core.Json
{
    /// <summary>
    /// Reads JSON text (RFC 8259) into objects, lists, strings, booleans, null and numbers: <see cref="long"/>, else
    /// <see cref="ulong"/> for whole numbers, else <see cref="double"/>.
    /// </summary>
    internal sealed class JsonReader
    {
        internal const int MostNesting = 512;

        private readonly string text;
        private int at;
        private int depth;

        private JsonReader(string text)
        {
            this.text = text;
        }

        /// <summary>The one value that the text holds.</summary>
        /// <exception cref="FormatException">The text is no JSON.</exception>
        internal static object Read(string text)
        {
            var reader = new JsonReader(text);
            reader.Blanks();
            var value = reader.Value();
            reader.Blanks();
            if (reader.at < text.Length)
            {
                throw reader.Wrong("the end");
            }
            return value;
        }

        private object Value()
        {
            switch (Peek())
            {
                case '{':
                    return Object();
                case '[':
                    return List();
                case '"':
                    return String();
                case 't':
                    return Word("true", true);
                case 'f':
                    return Word("false", false);
                case 'n':
                    return Word("null", null);
                default:
                    return Number();
            }
        }

        private JsonObject Object()
        {
            Enter();
            var entries = new List<KeyValuePair<string, object>>();
            if (!Empty('}'))
            {
                do
                {
                    Blanks();
                    if (Peek() != '"')
                    {
                        throw Wrong("a name");
                    }
                    var name = String();
                    Blanks();
                    if (Peek() != ':')
                    {
                        throw Wrong("':'");
                    }
                    at++;
                    Blanks();
                    entries.Add(new KeyValuePair<string, object>(name, Value()));
                }
                while (More('}'));
            }
            depth--;
            return new JsonObject(entries);
        }

        private IReadOnlyList<object> List()
        {
            Enter();
            var items = new List<object>();
            if (!Empty(']'))
            {
                do
                {
                    Blanks();
                    items.Add(Value());
                }
                while (More(']'));
            }
            depth--;
            return items.AsReadOnly();
        }

        private void Enter()
        {
            if (++depth > MostNesting)
            {
                throw new FormatException("more than " + MostNesting + " objects and lists lie within each other");
            }
            at++;
        }

        private bool Empty(char close)
        {
            Blanks();
            if (Peek() != close)
            {
                return false;
            }
            at++;
            return true;
        }

        private bool More(char close)
        {
            Blanks();
            var next = Peek();
            if (next != ',' && next != close)
            {
                throw Wrong("',' or '" + close + "'");
            }
            at++;
            return next == ',';
        }

        private string String()
        {
            var start = ++at;
            while (at < text.Length && text[at] != '"' && text[at] != '\\' && text[at] >= ' ')
            {
                at++;
            }
            if (Peek() == '"')
            {
                return text.Substring(start, at++ - start);
            }
            var built = new StringBuilder(text, start, at - start, Math.Max(16, 2 * (at - start)));
            while (true)
            {
                var next = Peek();
                if (next == '"')
                {
                    at++;
                    return built.ToString();
                }
                if (next < ' ')
                {
                    throw Wrong("the rest of a string");
                }
                at++;
                built.Append(next == '\\' ? Escaped() : next);
            }
        }

        private char Escaped()
        {
            var next = Peek();
            at++;
            switch (next)
            {
                case '"':
                case '\\':
                case '/':
                    return next;
                case 'b':
                    return '\b';
                case 'f':
                    return '\f';
                case 'n':
                    return '\n';
                case 'r':
                    return '\r';
                case 't':
                    return '\t';
                case 'u':
                    if (at + 4 <= text.Length
                        && ushort.TryParse(text.Substring(at, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var unit))
                    {
                        at += 4;
                        return (char)unit;
                    }
                    throw Wrong("four hexadecimal digits");
                default:
                    at--;
                    throw Wrong("an escape");
            }
        }

        private object Number()
        {
            var start = at;
            if (Peek() == '-')
            {
                at++;
            }
            var first = at;
            Digits();
            if (text[first] == '0' && at > first + 1)
            {
                at = first + 1;
                throw Wrong("no digit after a leading 0");
            }
            var whole = true;
            if (Peek() == '.')
            {
                whole = false;
                at++;
                Digits();
            }
            if (Peek() == 'e' || Peek() == 'E')
            {
                whole = false;
                at++;
                if (Peek() == '+' || Peek() == '-')
                {
                    at++;
                }
                Digits();
            }
            var digits = text.Substring(start, at - start);
            if (whole && long.TryParse(digits, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var small))
            {
                return small;
            }
            if (whole && ulong.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out var large))
            {
                return large;
            }
            if (double.TryParse(digits, NumberStyles.Float, CultureInfo.InvariantCulture, out var number) && !double.IsInfinity(number))
            {
                return number;
            }
            throw new FormatException("the number " + digits + " is too large");
        }

        private void Digits()
        {
            var start = at;
            while (Peek() >= '0' && Peek() <= '9')
            {
                at++;
            }
            if (at == start)
            {
                throw Wrong("a value");
            }
        }

        private object Word(string word, object value)
        {
            if (string.CompareOrdinal(text, at, word, 0, word.Length) != 0)
            {
                throw Wrong("a value");
            }
            at += word.Length;
            return value;
        }

        private void Blanks()
        {
            while (Peek() == ' ' || Peek() == '\n' || Peek() == '\r' || Peek() == '\t')
            {
                at++;
            }
        }

        /// <summary>The next character; NUL, which JSON has nowhere outside of an escape, at the end.</summary>
        private char Peek()
        {
            return at < text.Length ? text[at] : '\0';
        }

        private FormatException Wrong(string wanted)
        {
            return new FormatException("no JSON at character " + at + ": expected " + wanted);
        }
    }
}
