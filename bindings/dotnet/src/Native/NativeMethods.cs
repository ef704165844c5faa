using System;
using System.Runtime.InteropServices;
using System.Security;

namespace AceMq.Core.Native
{
    /// <summary>Bytes that the library gave away: <c>AcemqBuffer</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeBuffer
    {
        internal byte* Ptr;
        internal UIntPtr Len;
        internal UIntPtr Capacity;
    }

    /// <summary>Bytes that belong to a handle: <c>AcemqBytes</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeBytes
    {
        internal byte* Ptr;
        internal UIntPtr Len;
    }

    /// <summary><c>AcemqDecision</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeDecision
    {
        internal ulong WaitMs;
        internal int Retry;
        internal int InBroker;
        internal int Reason;
        internal int Rung;
    }

    /// <summary><c>AcemqRung</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeRung
    {
        internal NativeBytes Name;
        internal ulong DelayMs;
        internal UIntPtr Index;
    }

    /// <summary>
    /// The functions of acemq.h, one to one. <see cref="NativeLoader.Require"/> comes before the first of them; a handle shows
    /// that it came.
    /// </summary>
    [SuppressUnmanagedCodeSecurity]
    internal static unsafe class NativeMethods
    {
        private const string Library = NativeLoader.Library;
        private const CallingConvention C = CallingConvention.Cdecl;

        internal const ulong AgeUnknown = ulong.MaxValue;

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint acemq_abi_version();

        [DllImport(Library, CallingConvention = C)]
        internal static extern IntPtr acemq_engine_version();

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint acemq_spec_version();

        [DllImport(Library, CallingConvention = C)]
        internal static extern void acemq_buffer_free(NativeBuffer* buffer);

        [DllImport(Library, CallingConvention = C)]
        internal static extern NativeBytes acemq_error_detail(IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern void acemq_error_free(IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_call(byte* operation, UIntPtr operationLength, byte* input, UIntPtr inputLength, out NativeBuffer output, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_operations(out NativeBuffer output, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_fail_inside(out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_dead_letter_queue(byte* queue, UIntPtr queueLength, out NativeBuffer name, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_parked_queue(byte* queue, UIntPtr queueLength, out NativeBuffer name, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_retry_queue(byte* queue, UIntPtr queueLength, ulong delayMs, out NativeBuffer name, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_delay_text(ulong delayMs, out NativeBuffer text, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_parse_duration(byte* duration, UIntPtr durationLength, out ulong milliseconds, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_milliseconds_from_nanoseconds(ulong nanoseconds, out ulong milliseconds, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_milliseconds_from_seconds(double seconds, out ulong milliseconds, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_retry_policy_parse(byte* text, UIntPtr textLength, out RetryPolicyHandle policy, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_retry_policy_from_json(byte* json, UIntPtr jsonLength, out RetryPolicyHandle policy, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_retry_policy_document(RetryPolicyHandle policy, out NativeBuffer document, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_retry_policy_decide(RetryPolicyHandle policy, uint attempt, ulong ageMs, double u, out NativeDecision decision, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_retry_policy_give_up_text(RetryPolicyHandle policy, int reason, out NativeBuffer text, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_retry_policy_delay(RetryPolicyHandle policy, uint index, out ulong delayMs, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_retry_policy_rung_for(RetryPolicyHandle policy, ulong delayMs, out ulong rungMs, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern void acemq_retry_policy_free(IntPtr policy);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_ladder_new(byte* queue, UIntPtr queueLength, RetryPolicyHandle policy, out LadderHandle ladder, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_ladder_document(LadderHandle ladder, out NativeBuffer document, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_ladder_rung_for(LadderHandle ladder, ulong delayMs, out NativeRung rung, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern void acemq_ladder_free(IntPtr ladder);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_topic_matches(byte* pattern, UIntPtr patternLength, byte* key, UIntPtr keyLength, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_pattern_new(byte* pattern, UIntPtr patternLength, out PatternHandle compiled, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_pattern_matches(PatternHandle pattern, byte* key, UIntPtr keyLength, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_pattern_matches_batch(PatternHandle pattern, byte* keys, UIntPtr keysLength, uint* offsets, UIntPtr count, byte* results, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern void acemq_pattern_free(IntPtr pattern);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_matcher_new(out MatcherHandle matcher, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_matcher_insert(MatcherHandle matcher, byte* pattern, UIntPtr patternLength, ulong value, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_matcher_remove(MatcherHandle matcher, byte* pattern, UIntPtr patternLength, ulong value, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_matcher_count(MatcherHandle matcher, out UIntPtr count, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_matcher_matches(MatcherHandle matcher, byte* key, UIntPtr keyLength, long* values, UIntPtr capacity, out UIntPtr found, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_matcher_matches_batch(MatcherHandle matcher, byte* keys, UIntPtr keysLength, uint* offsets, UIntPtr count, long* values, UIntPtr capacity, ulong* ends, out UIntPtr found, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern void acemq_matcher_free(IntPtr matcher);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_plan_session_new(byte* input, UIntPtr inputLength, out PlanSessionHandle session, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_plan_session_questions(PlanSessionHandle session, out NativeBuffer questions, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_plan_session_next_questions(PlanSessionHandle session, UIntPtr limit, out NativeBuffer questions, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_plan_session_answer(PlanSessionHandle session, byte* answer, UIntPtr answerLength, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_plan_session_interrupt(PlanSessionHandle session, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_plan_session_finished(PlanSessionHandle session, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_plan_session_state(PlanSessionHandle session, out NativeBuffer state, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_plan_session_render(PlanSessionHandle session, int style, UIntPtr width, out NativeBuffer text, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern void acemq_plan_session_free(IntPtr session);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_router_new(byte* input, UIntPtr inputLength, out RouterHandle router, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_router_route(RouterHandle router, byte* message, UIntPtr messageLength, out NativeBuffer route, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern void acemq_router_free(IntPtr router);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_broker_new(byte* settings, UIntPtr settingsLength, out BrokerHandle broker, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_broker_call(BrokerHandle broker, byte* command, UIntPtr commandLength, out NativeBuffer reply, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern int acemq_broker_clone(BrokerHandle broker, out BrokerHandle clone, out IntPtr error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern void acemq_broker_free(IntPtr broker);
    }
}
