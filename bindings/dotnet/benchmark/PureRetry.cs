using System;

namespace Benchmark
{
    /// <summary>A decision as a client library in C# computes it: exponential waits, a threshold, jitter.</summary>
    internal sealed class PureRetry
    {
        private readonly int attempts;
        private readonly long firstMs;
        private readonly double jitter;

        internal PureRetry(int attempts, long firstMs, double jitter)
        {
            this.attempts = attempts;
            this.firstMs = firstMs;
            this.jitter = jitter;
        }

        internal TimeSpan? Decide(int attempt, double u)
        {
            if (attempt >= attempts)
            {
                return null;
            }
            var wait = (long)(firstMs * Math.Pow(2, attempt - 1));
            return TimeSpan.FromMilliseconds(wait >= 30000 ? wait : Math.Max(1, (long)(wait * (1 + (2 * u - 1) * jitter))));
        }
    }
}
