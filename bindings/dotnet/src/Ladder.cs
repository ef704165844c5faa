using System;
using System.Collections.Generic;
using System.Linq;
using AceMq.Core.Json;
using AceMq.Core.Native;

namespace AceMq.Core
{
    /// <summary>A queue in which messages of another one wait.</summary>
    public sealed class Rung
    {
        internal Rung(JsonObject rung)
        {
            Name = rung.Text("name");
            Delay = Durations.FromMilliseconds(rung.Number("delay_ms"));
            Declaration = Declaration.Of("queue", rung);
        }

        /// <summary>Its name.</summary>
        public string Name { get; }

        /// <summary>How long it holds a message.</summary>
        public TimeSpan Delay { get; }

        /// <summary>How it is declared.</summary>
        public Declaration Declaration { get; }

        /// <summary>The name.</summary>
        public override string ToString()
        {
            return Name;
        }
    }

    /// <summary>The queues in which the messages of one queue wait, shortest delay first.</summary>
    /// <remarks>It never changes and may be shared between threads.</remarks>
    public sealed unsafe class Ladder : IDisposable
    {
        private readonly LadderHandle handle;

        /// <summary>The ladder of a queue under a policy.</summary>
        /// <exception cref="AceMqException">A name is empty, reserved or too long.</exception>
        public Ladder(string queue, RetryPolicy policy)
        {
            NativeLoader.Require();
            Engine.Given(policy, nameof(policy));
            var bytes = Interop.Bytes(queue, nameof(queue));
            fixed (byte* pointer = bytes)
            {
                var made = NativeMethods.acemq_ladder_new(pointer, Interop.Size(bytes.Length), policy.Handle, out handle, out var fault);
                Interop.Check(made, fault);
            }
            Queue = queue;
            var status = NativeMethods.acemq_ladder_document(handle, out var text, out var error);
            var document = (JsonObject)JsonReader.Read(Interop.Take(status, ref text, error));
            Document = document;
            Rungs = document.Objects("rungs").Select(rung => new Rung(rung)).ToList().AsReadOnly();
            var exchange = document.OptionalObject("exchange");
            Exchange = exchange == null ? null : Declaration.Of("exchange", exchange);
            var binding = document.OptionalObject("binding");
            Binding = binding == null ? null : Declaration.Of("binding", binding);
        }

        /// <summary>The queue whose messages wait.</summary>
        public string Queue { get; }

        /// <summary>The rungs, shortest delay first; none when nothing waits in the broker.</summary>
        public IReadOnlyList<Rung> Rungs { get; }

        /// <summary>The exchange that leads back; <c>null</c> without rungs.</summary>
        public Declaration Exchange { get; }

        /// <summary>The binding that leads back; <c>null</c> without rungs.</summary>
        public Declaration Binding { get; }

        /// <summary>All of it: the output of the operation <c>retry.ladder</c>.</summary>
        public IReadOnlyDictionary<string, object> Document { get; }

        /// <summary>The rung for any delay: the shortest that is long enough, else the longest; <c>null</c> when it is too short for the broker, or without rungs.</summary>
        /// <exception cref="AceMqException">The delay is negative or no whole number of milliseconds.</exception>
        public Rung RungFor(TimeSpan delay)
        {
            return RungFor(Durations.ToMilliseconds(delay));
        }

        /// <summary>The rung for a delay of that many milliseconds.</summary>
        public Rung RungFor(ulong milliseconds)
        {
            var status = NativeMethods.acemq_ladder_rung_for(handle, milliseconds, out var rung, out var error);
            Interop.Check(status, error);
            return status == 0 ? null : Rungs[checked((int)rung.Index)];
        }

        /// <summary>The rung that a decision of this ladder's policy names; <c>null</c> when the message does not wait in the broker.</summary>
        public Rung RungOf(Decision decision)
        {
            return decision.RungIndex < 0 ? null : Rungs[decision.RungIndex];
        }

        /// <summary>Frees it.</summary>
        public void Dispose()
        {
            handle.Dispose();
        }
    }
}
