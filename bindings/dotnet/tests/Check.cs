using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using AceMq.Core.Json;

namespace AceMq.Core.Tests
{
    /// <summary>What tests assert with.</summary>
    internal static class Check
    {
        internal static void True(bool condition, string what)
        {
            if (!condition)
            {
                throw new Exception(what);
            }
        }

        internal static void Equal(object expected, object actual)
        {
            var difference = Difference(expected, actual, "", true);
            if (difference != null)
            {
                throw new Exception(difference);
            }
        }

        internal static void Contains(string part, string whole)
        {
            True(whole.Contains(part), "expected \"" + part + "\" in: " + whole);
        }

        internal static T Throws<T>(Action action)
            where T : Exception
        {
            try
            {
                action();
            }
            catch (T error)
            {
                return error;
            }
            throw new Exception("expected a " + typeof(T).Name);
        }

        internal static AceMqException Refuses(string code, Action action)
        {
            var error = Throws<AceMqException>(action);
            Equal(code, error.Code);
            return error;
        }

        /// <summary>
        /// Where two values differ, or null. Numbers are compared by value; unless <paramref name="exact"/>, the actual
        /// dictionaries may hold more.
        /// </summary>
        internal static string Difference(object expected, object actual, string where, bool exact)
        {
            var entries = expected as IReadOnlyDictionary<string, object>;
            if (entries != null && actual is IReadOnlyDictionary<string, object> others)
            {
                foreach (var entry in entries)
                {
                    if (!others.ContainsKey(entry.Key))
                    {
                        return where + "/" + entry.Key + ": is missing";
                    }
                    var inside = Difference(entry.Value, others[entry.Key], where + "/" + entry.Key, exact);
                    if (inside != null)
                    {
                        return inside;
                    }
                }
                var further = others.Keys.FirstOrDefault(key => exact && !entries.ContainsKey(key));
                return further == null ? null : where + "/" + further + ": was not expected";
            }
            if (IsList(expected) && IsList(actual))
            {
                var wanted = ((IEnumerable)expected).Cast<object>().ToList();
                var found = ((IEnumerable)actual).Cast<object>().ToList();
                if (wanted.Count != found.Count)
                {
                    return where + ": expected " + Shown(expected) + ", was " + Shown(actual);
                }
                return wanted.Select((item, index) => Difference(item, found[index], where + "/" + index, exact))
                    .FirstOrDefault(inside => inside != null);
            }
            return Same(expected, actual) ? null : where + ": expected " + Shown(expected) + ", was " + Shown(actual);
        }

        private static bool IsList(object value)
        {
            return value is IEnumerable && !(value is string) && !(value is IReadOnlyDictionary<string, object>);
        }

        private static bool Same(object expected, object actual)
        {
            if (IsNumber(expected) && IsNumber(actual))
            {
                return expected is double || actual is double
                    ? Convert.ToDouble(expected, CultureInfo.InvariantCulture).Equals(Convert.ToDouble(actual, CultureInfo.InvariantCulture))
                    : Convert.ToDecimal(expected, CultureInfo.InvariantCulture) == Convert.ToDecimal(actual, CultureInfo.InvariantCulture);
            }
            return Equals(expected, actual);
        }

        private static bool IsNumber(object value)
        {
            return value is long || value is int || value is uint || value is ulong || value is double || value is decimal;
        }

        private static string Shown(object value)
        {
            try
            {
                return JsonWriter.Write(value);
            }
            catch (ArgumentException)
            {
                return value.ToString();
            }
        }
    }
}
