using System;
using System.Collections.Generic;
using System.Linq;
using AceMq.Core.Json;
using AceMq.Core.Native;

namespace AceMq.Core
{
    /// <summary>Where a message goes.</summary>
    public sealed class Route
    {
        internal Route(JsonObject document)
        {
            Document = document;
            ExchangeExists = document.Flag("exchange_exists");
            Queues = document.Texts("queues");
        }

        /// <summary>Whether there is such an exchange; publishing to none closes the channel.</summary>
        public bool ExchangeExists { get; }

        /// <summary>The queues that get a copy, sorted.</summary>
        public IReadOnlyList<string> Queues { get; }

        /// <summary>The document <c>acemq.route/1</c>: after <see cref="Router.Explain"/> with every way, dead end and near miss.</summary>
        public IReadOnlyDictionary<string, object> Document { get; }
    }

    /// <summary>A vhost's exchanges, queues and bindings, ready to say where messages go.</summary>
    /// <remarks>It never changes and may be shared between threads.</remarks>
    public sealed unsafe class Router : IDisposable
    {
        private readonly RouterHandle handle;

        /// <summary>A router of what a topology declares.</summary>
        /// <exception cref="AceMqException">Every problem of the topology.</exception>
        public Router(Topology topology)
            : this(Vhost.OfTopology(topology))
        {
        }

        /// <summary>A router of what a vhost holds.</summary>
        /// <exception cref="AceMqException">The topology has problems, or the export cannot be used.</exception>
        public Router(Vhost vhost)
        {
            NativeLoader.Require();
            var bytes = Interop.Bytes(JsonWriter.Write(Engine.Given(vhost, nameof(vhost)).Source), nameof(vhost));
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_router_new(pointer, Interop.Size(bytes.Length), out handle, out var error);
                Interop.Check(status, error);
            }
        }

        /// <summary>Where a message goes.</summary>
        /// <param name="exchange">The exchange; empty for the default one.</param>
        /// <param name="key">The routing key.</param>
        /// <param name="headers">Its headers; the texts in the lists <c>CC</c> and <c>BCC</c> are further routing keys.</param>
        public Route Route(string exchange, string key, IReadOnlyDictionary<string, object> headers = null)
        {
            return Ask(exchange, key, headers, false);
        }

        /// <summary>Where a message goes and why: every copy with its way, dead ends and near misses.</summary>
        /// <param name="exchange">The exchange; empty for the default one.</param>
        /// <param name="key">The routing key.</param>
        /// <param name="headers">Its headers; the texts in the lists <c>CC</c> and <c>BCC</c> are further routing keys.</param>
        public Route Explain(string exchange, string key, IReadOnlyDictionary<string, object> headers = null)
        {
            return Ask(exchange, key, headers, true);
        }

        private Route Ask(string exchange, string key, IReadOnlyDictionary<string, object> headers, bool explain)
        {
            var message = new Dictionary<string, object>
            {
                { "exchange", Engine.Given(exchange, nameof(exchange)) },
                { "key", Engine.Given(key, nameof(key)) },
                { "headers", headers ?? JsonObject.Empty },
                { "explain", explain },
            };
            var bytes = Interop.Bytes(JsonWriter.Write(message), nameof(message));
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_router_route(handle, pointer, Interop.Size(bytes.Length), out var text, out var error);
                return new Route((JsonObject)JsonReader.Read(Interop.Take(status, ref text, error)));
            }
        }

        /// <summary>Frees it.</summary>
        public void Dispose()
        {
            handle.Dispose();
        }
    }
}
