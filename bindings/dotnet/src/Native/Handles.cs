using System;
using System.Runtime.InteropServices;

namespace AceMq.Core.Native
{
    /// <summary>
    /// A handle of the library. Given to an import as it is, it stays alive until the call returns, whoever disposes it
    /// meanwhile; the finalizer frees what nobody disposed.
    /// </summary>
    internal abstract class NativeHandle : SafeHandle
    {
        protected NativeHandle()
            : base(IntPtr.Zero, true)
        {
        }

        public sealed override bool IsInvalid
        {
            get { return handle == IntPtr.Zero; }
        }

        protected abstract void Free(IntPtr pointer);

        protected sealed override bool ReleaseHandle()
        {
            Free(handle);
            return true;
        }
    }

    internal sealed class RetryPolicyHandle : NativeHandle
    {
        protected override void Free(IntPtr pointer)
        {
            NativeMethods.acemq_retry_policy_free(pointer);
        }
    }

    internal sealed class LadderHandle : NativeHandle
    {
        protected override void Free(IntPtr pointer)
        {
            NativeMethods.acemq_ladder_free(pointer);
        }
    }

    internal sealed class PatternHandle : NativeHandle
    {
        protected override void Free(IntPtr pointer)
        {
            NativeMethods.acemq_pattern_free(pointer);
        }
    }

    internal sealed class MatcherHandle : NativeHandle
    {
        protected override void Free(IntPtr pointer)
        {
            NativeMethods.acemq_matcher_free(pointer);
        }
    }

    internal sealed class PlanSessionHandle : NativeHandle
    {
        protected override void Free(IntPtr pointer)
        {
            NativeMethods.acemq_plan_session_free(pointer);
        }
    }

    internal sealed class RouterHandle : NativeHandle
    {
        protected override void Free(IntPtr pointer)
        {
            NativeMethods.acemq_router_free(pointer);
        }
    }

    internal sealed class BrokerHandle : NativeHandle
    {
        protected override void Free(IntPtr pointer)
        {
            NativeMethods.acemq_broker_free(pointer);
        }
    }
}
