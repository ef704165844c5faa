using System;
using AceMq.Core.Native;

namespace AceMq.Core
{
    /// <summary>Why a message is set aside.</summary>
    public enum GiveUpReason
    {
        /// <summary>It is not: it is tried again.</summary>
        None = 0,

        /// <summary>This was the last attempt.</summary>
        AttemptsExhausted = 1,

        /// <summary>It has reached the age limit.</summary>
        TooOld = 2,
    }

    /// <summary>What to do with a message whose handling failed.</summary>
    public struct Decision
    {
        internal Decision(NativeDecision decision, string giveUpText)
        {
            Retry = decision.Retry != 0;
            Reason = (GiveUpReason)decision.Reason;
            WaitMilliseconds = decision.WaitMs;
            InBroker = decision.InBroker != 0;
            RungIndex = decision.Rung;
            GiveUpText = giveUpText;
        }

        /// <summary>Whether it is tried again; else it is set aside.</summary>
        public bool Retry { get; }

        /// <summary>Why it is set aside.</summary>
        public GiveUpReason Reason { get; }

        /// <summary>How long it waits.</summary>
        /// <exception cref="AceMqException">Longer than a <see cref="TimeSpan"/> can hold.</exception>
        public TimeSpan Wait
        {
            get { return Durations.FromMilliseconds(WaitMilliseconds); }
        }

        /// <summary>How long it waits, in milliseconds.</summary>
        public ulong WaitMilliseconds { get; }

        /// <summary>Whether it waits on a rung, in the broker; else in the consumer.</summary>
        public bool InBroker { get; }

        /// <summary>The rung's place in a ladder of this policy; -1 without one. See <see cref="Ladder.RungOf"/>.</summary>
        public int RungIndex { get; }

        /// <summary>The text that it is set aside with; <c>null</c> when it is tried again.</summary>
        public string GiveUpText { get; }

        /// <summary>In a few words, for logs.</summary>
        public override string ToString()
        {
            return Retry ? "retry after " + WaitMilliseconds + " ms" + (InBroker ? " in the broker" : "") : GiveUpText ?? "";
        }
    }
}
