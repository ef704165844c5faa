using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace AceMq.Core.Json
{
    /// <summary>Writes JSON text.</summary>
    internal static class JsonWriter
    {
        /// <summary>
        /// The text of null, a boolean, a string, any number type, bytes, a dictionary with names of strings, or a list of these.
        /// </summary>
        /// <exception cref="ArgumentException">The value is something else, or not finite, or contains itself.</exception>
        internal static string Write(object value)
        {
            var text = new StringBuilder();
            Append(text, value, 0);
            return text.ToString();
        }

        private static void Append(StringBuilder text, object value, int depth)
        {
            if (depth > JsonReader.MostNesting)
            {
                throw new ArgumentException("more than " + JsonReader.MostNesting + " dictionaries and lists lie within each other");
            }
            if (value == null)
            {
                text.Append("null");
            }
            else if (value is bool flag)
            {
                text.Append(flag ? "true" : "false");
            }
            else if (value is string words)
            {
                AppendString(text, words);
            }
            else if (value is double || value is float)
            {
                AppendDouble(text, Convert.ToDouble(value, CultureInfo.InvariantCulture));
            }
            else if (IsNumber(value))
            {
                text.Append(((IFormattable)value).ToString(null, CultureInfo.InvariantCulture));
            }
            else if (value is byte[] bytes)
            {
                // How the engine writes bytes: AMQP's field type `x`.
                text.Append("{\"@x\":\"").Append(Convert.ToBase64String(bytes)).Append("\"}");
            }
            else if (value is IEnumerable<KeyValuePair<string, object>> entries)
            {
                AppendEntries(text, entries, depth);
            }
            else if (value is IDictionary others)
            {
                AppendEntries(text, Named(others), depth);
            }
            else if (value is IEnumerable items)
            {
                AppendItems(text, items, depth);
            }
            else
            {
                throw new ArgumentException("a " + value.GetType() + " has no place in JSON; give a number, text, boolean, list or dictionary");
            }
        }

        private static bool IsNumber(object value)
        {
            return value is long || value is int || value is ulong || value is uint || value is short || value is ushort
                || value is byte || value is sbyte || value is decimal;
        }

        private static IEnumerable<KeyValuePair<string, object>> Named(IDictionary entries)
        {
            foreach (DictionaryEntry entry in entries)
            {
                yield return new KeyValuePair<string, object>(
                    entry.Key as string ?? throw new ArgumentException("a dictionary's names have to be strings, this one is a " + entry.Key.GetType()),
                    entry.Value);
            }
        }

        private static void AppendEntries(StringBuilder text, IEnumerable<KeyValuePair<string, object>> entries, int depth)
        {
            text.Append('{');
            var first = true;
            foreach (var entry in entries)
            {
                if (!first)
                {
                    text.Append(',');
                }
                first = false;
                AppendString(text, entry.Key);
                text.Append(':');
                Append(text, entry.Value, depth + 1);
            }
            text.Append('}');
        }

        private static void AppendItems(StringBuilder text, IEnumerable items, int depth)
        {
            text.Append('[');
            var first = true;
            foreach (var item in items)
            {
                if (!first)
                {
                    text.Append(',');
                }
                first = false;
                Append(text, item, depth + 1);
            }
            text.Append(']');
        }

        private static void AppendDouble(StringBuilder text, double number)
        {
            var digits = number.ToString("R", CultureInfo.InvariantCulture);
            if (double.IsNaN(number) || double.IsInfinity(number))
            {
                throw new ArgumentException("JSON has no number " + digits);
            }
            text.Append(digits);
            if (digits.IndexOfAny(Fraction) < 0)
            {
                // So that it is read as a double again.
                text.Append(".0");
            }
        }

        private static readonly char[] Fraction = { '.', 'e', 'E' };

        private static void AppendString(StringBuilder text, string words)
        {
            text.Append('"');
            foreach (var unit in words)
            {
                switch (unit)
                {
                    case '"':
                        text.Append("\\\"");
                        break;
                    case '\\':
                        text.Append("\\\\");
                        break;
                    case '\n':
                        text.Append("\\n");
                        break;
                    default:
                        if (unit < ' ')
                        {
                            text.Append("\\u").Append(((int)unit).ToString("x4", CultureInfo.InvariantCulture));
                        }
                        else
                        {
                            text.Append(unit);
                        }
                        break;
                }
            }
            text.Append('"');
        }
    }
}
