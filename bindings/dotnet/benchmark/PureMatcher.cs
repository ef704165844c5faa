namespace Benchmark
{
    /// <summary>AMQP's topic rule as C# programmers write it when they care: no split, no allocation.</summary>
    internal static class PureMatcher
    {
        internal static bool Matches(string pattern, string key)
        {
            return Matches(pattern, 0, key, 0);
        }

        /// <summary>From here on; a position one past the end means that no word is left.</summary>
        private static bool Matches(string pattern, int p, string key, int k)
        {
            while (true)
            {
                if (p > pattern.Length || pattern.Length == 0)
                {
                    return k > key.Length || key.Length == 0;
                }
                var patternEnd = WordEnd(pattern, p);
                if (patternEnd - p == 1 && pattern[p] == '#')
                {
                    var next = patternEnd + 1;
                    if (next > pattern.Length)
                    {
                        return true;
                    }
                    for (; k <= key.Length; k = WordEnd(key, k) + 1)
                    {
                        if (Matches(pattern, next, key, k))
                        {
                            return true;
                        }
                    }
                    return Matches(pattern, next, key, k);
                }
                if (k > key.Length || key.Length == 0)
                {
                    return false;
                }
                var keyEnd = WordEnd(key, k);
                var star = patternEnd - p == 1 && pattern[p] == '*';
                if (!star && (patternEnd - p != keyEnd - k || string.CompareOrdinal(pattern, p, key, k, keyEnd - k) != 0))
                {
                    return false;
                }
                p = patternEnd + 1;
                k = keyEnd + 1;
            }
        }

        private static int WordEnd(string text, int start)
        {
            var end = start;
            while (end < text.Length && text[end] != '.')
            {
                end++;
            }
            return end;
        }
    }
}
