using System;
using System.Globalization;
using AceMq.Core.Native;

namespace AceMq.Core
{
    /// <summary><see cref="TimeSpan"/> and the engine's whole milliseconds, exactly in both directions.</summary>
    internal static class Durations
    {
        /// <summary>A tick is 100 nanoseconds.</summary>
        private const ulong NanosecondsPerTick = 100;

        /// <summary>The milliseconds of a duration; the engine refuses a rest or a sign.</summary>
        internal static ulong ToMilliseconds(TimeSpan duration)
        {
            var ticks = duration.Ticks;
            if (ticks >= 0 && ticks % TimeSpan.TicksPerMillisecond == 0)
            {
                return (ulong)(ticks / TimeSpan.TicksPerMillisecond);
            }
            NativeLoader.Require();
            // What is left here is refused. Counted in nanoseconds where that fits.
            var fits = ticks >= 0 && (ulong)ticks <= ulong.MaxValue / NanosecondsPerTick;
            ulong milliseconds;
            IntPtr error;
            var status = fits
                ? NativeMethods.acemq_milliseconds_from_nanoseconds((ulong)ticks * NanosecondsPerTick, out milliseconds, out error)
                : NativeMethods.acemq_milliseconds_from_seconds(duration.TotalSeconds, out milliseconds, out error);
            Interop.Check(status, error);
            return milliseconds;
        }

        internal static TimeSpan FromMilliseconds(ulong milliseconds)
        {
            if (milliseconds > (ulong)(TimeSpan.MaxValue.Ticks / TimeSpan.TicksPerMillisecond))
            {
                throw new AceMqException(
                    "duration_too_large",
                    milliseconds.ToString(CultureInfo.InvariantCulture) + " ms are more than a TimeSpan can hold",
                    "use a shorter duration, or ask for milliseconds");
            }
            return new TimeSpan((long)milliseconds * TimeSpan.TicksPerMillisecond);
        }

        /// <summary>As documents write it.</summary>
        internal static string ToText(TimeSpan duration)
        {
            return ToMilliseconds(duration).ToString(CultureInfo.InvariantCulture) + "ms";
        }
    }
}
