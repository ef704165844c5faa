using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using AceMq.Core.Json;
using AceMq.Core.Native;

namespace AceMq.Core
{
    /// <summary>What a name is for.</summary>
    public enum NameKind
    {
        /// <summary>A queue, or a stream.</summary>
        Queue,

        /// <summary>An exchange.</summary>
        Exchange,
    }

    /// <summary>
    /// The engine's functions: names, durations, declarations and what a broker says about them, topic patterns; and
    /// <see cref="Call(string, IReadOnlyDictionary{string, object})"/>, the table that everything else is made of.
    /// </summary>
    /// <remarks>All of it may be used from any thread. What the engine refuses is an <see cref="AceMqException"/>.</remarks>
    public static unsafe class Engine
    {
        /// <summary>The version of the engine, as in <c>0.1.0</c>.</summary>
        public static string Version
        {
            get
            {
                NativeLoader.Require();
                return Marshal.PtrToStringAnsi(NativeMethods.acemq_engine_version());
            }
        }

        /// <summary>The version of the library's ABI, as in <c>1.0</c>; the major part is the one that this assembly was built for.</summary>
        public static Version AbiVersion
        {
            get
            {
                NativeLoader.Require();
                var version = NativeMethods.acemq_abi_version();
                return new Version((int)(version >> 16), (int)(version & 0xffff));
            }
        }

        /// <summary>The version of the conformance suites that the engine passes.</summary>
        public static int SpecVersion
        {
            get
            {
                NativeLoader.Require();
                return checked((int)NativeMethods.acemq_spec_version());
            }
        }

        /// <summary>The file that is loaded, or the name under which the system found it.</summary>
        public static string LibraryPath
        {
            get { return NativeLoader.LibraryPath; }
        }

        /// <summary>Runs an operation of the engine's table.</summary>
        /// <param name="operation">Its name, as in <c>retry.decide</c>; <see cref="Operations"/> lists them.</param>
        /// <param name="input">
        /// Text, booleans, numbers, null, dictionaries and lists. Bytes are written as AMQP's field type <c>x</c>.
        /// </param>
        /// <returns>The output: whole numbers are <see cref="long"/>, or <see cref="ulong"/> where that is too small.</returns>
        /// <exception cref="AceMqException">There is no such operation, or it refuses the input.</exception>
        public static IReadOnlyDictionary<string, object> Call(string operation, IReadOnlyDictionary<string, object> input)
        {
            if (input == null)
            {
                throw new ArgumentNullException(nameof(input));
            }
            return Ask(operation, input);
        }

        /// <summary>Runs an operation of the engine's table: JSON in, JSON out.</summary>
        /// <exception cref="AceMqException">There is no such operation, or it refuses the input.</exception>
        public static string CallJson(string operation, string input)
        {
            NativeLoader.Require();
            var name = Interop.Bytes(operation, nameof(operation));
            var bytes = Interop.Bytes(input, nameof(input));
            fixed (byte* namePointer = name)
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_call(
                    namePointer, Interop.Size(name.Length), pointer, Interop.Size(bytes.Length), out var output, out var error);
                return Interop.Take(status, ref output, error);
            }
        }

        internal static JsonObject Ask(string operation, object input)
        {
            return (JsonObject)JsonReader.Read(CallJson(operation, JsonWriter.Write(input)));
        }

        /// <summary>The table: each operation's name, what it does, its problem codes and the JSON Schemas of input and output.</summary>
        public static IReadOnlyList<IReadOnlyDictionary<string, object>> Operations
        {
            get
            {
                NativeLoader.Require();
                var status = NativeMethods.acemq_operations(out var output, out var error);
                var table = (IReadOnlyList<object>)JsonReader.Read(Interop.Take(status, ref output, error));
                var rows = new List<IReadOnlyDictionary<string, object>>();
                foreach (var row in table)
                {
                    rows.Add((JsonObject)row);
                }
                return rows.AsReadOnly();
            }
        }

        /// <summary>The name of the queue that takes rejected messages of <paramref name="queue"/>.</summary>
        /// <exception cref="AceMqException">A name is empty, reserved or too long.</exception>
        public static string DeadLetterQueue(string queue)
        {
            NativeLoader.Require();
            var bytes = Interop.Bytes(queue, nameof(queue));
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_dead_letter_queue(pointer, Interop.Size(bytes.Length), out var name, out var error);
                return Interop.Take(status, ref name, error);
            }
        }

        /// <summary>The name of the queue that takes messages of <paramref name="queue"/> which a person has to look at.</summary>
        /// <exception cref="AceMqException">A name is empty, reserved or too long.</exception>
        public static string ParkedQueue(string queue)
        {
            NativeLoader.Require();
            var bytes = Interop.Bytes(queue, nameof(queue));
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_parked_queue(pointer, Interop.Size(bytes.Length), out var name, out var error);
                return Interop.Take(status, ref name, error);
            }
        }

        /// <summary>The name of the queue in which messages of <paramref name="queue"/> wait for <paramref name="delay"/>.</summary>
        /// <exception cref="AceMqException">The delay is zero or no whole number of milliseconds, or a name is too long.</exception>
        public static string RetryQueue(string queue, TimeSpan delay)
        {
            return RetryQueue(queue, Durations.ToMilliseconds(delay));
        }

        /// <summary>The name of the queue in which messages of <paramref name="queue"/> wait for that many milliseconds.</summary>
        /// <exception cref="AceMqException">The delay is zero, or a name is empty, reserved or too long.</exception>
        public static string RetryQueue(string queue, ulong milliseconds)
        {
            NativeLoader.Require();
            var bytes = Interop.Bytes(queue, nameof(queue));
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_retry_queue(
                    pointer, Interop.Size(bytes.Length), milliseconds, out var name, out var error);
                return Interop.Take(status, ref name, error);
            }
        }

        /// <summary>The text of a delay in the name of such a queue: <c>2h</c>, <c>5m</c>, <c>90s</c>, <c>30500ms</c>.</summary>
        /// <exception cref="AceMqException">The delay is zero or no whole number of milliseconds.</exception>
        public static string DelayText(TimeSpan delay)
        {
            return DelayText(Durations.ToMilliseconds(delay));
        }

        /// <summary>The text of a delay of that many milliseconds.</summary>
        /// <exception cref="AceMqException">The delay is zero.</exception>
        public static string DelayText(ulong milliseconds)
        {
            NativeLoader.Require();
            var status = NativeMethods.acemq_delay_text(milliseconds, out var text, out var error);
            return Interop.Take(status, ref text, error);
        }

        /// <summary>Checks that RabbitMQ takes a name as it stands, for something that is to be declared.</summary>
        /// <returns>The name's length in UTF-8, and how people see it: control characters escaped.</returns>
        /// <exception cref="AceMqException">Everything that is wrong with the name.</exception>
        public static CheckedName CheckName(NameKind kind, string name)
        {
            var input = new Dictionary<string, object> { { "kind", kind == NameKind.Exchange ? "exchange" : "queue" }, { "name", Given(name, nameof(name)) } };
            var answer = Ask("name.check", input);
            return new CheckedName(checked((int)answer.Number("bytes")), answer.Text("shown"));
        }

        /// <summary>The dead-letter queue, the parked queue and the shared exchanges of a queue.</summary>
        /// <exception cref="AceMqException">A name is empty, reserved or too long.</exception>
        public static ImpliedNames ImpliedNames(string queue)
        {
            return new ImpliedNames(Ask("name.implied", new Dictionary<string, object> { { "queue", Given(queue, nameof(queue)) } }));
        }

        /// <summary>The duration of a text: digits and one of <c>ms</c>, <c>s</c>, <c>m</c>, <c>h</c>; or <c>0</c>.</summary>
        /// <exception cref="AceMqException">The text is no duration, or more than a <see cref="TimeSpan"/> can hold.</exception>
        public static TimeSpan ParseDuration(string text)
        {
            return Durations.FromMilliseconds(ParseMilliseconds(text));
        }

        /// <summary>The same in milliseconds, up to the largest that the engine knows.</summary>
        /// <exception cref="AceMqException">The text is no duration.</exception>
        public static ulong ParseMilliseconds(string text)
        {
            NativeLoader.Require();
            var bytes = Interop.Bytes(text, nameof(text));
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_parse_duration(
                    pointer, Interop.Size(bytes.Length), out var milliseconds, out var error);
                Interop.Check(status, error);
                return milliseconds;
            }
        }

        /// <summary>The whole milliseconds of a duration, as every function here takes them.</summary>
        /// <exception cref="AceMqException">The duration is negative or no whole number of milliseconds.</exception>
        public static ulong Milliseconds(TimeSpan duration)
        {
            return Durations.ToMilliseconds(duration);
        }

        /// <summary>The nearest whole milliseconds to floating-point seconds.</summary>
        /// <exception cref="AceMqException">They are negative, too large, or further than a microsecond away from it.</exception>
        public static ulong MillisecondsFromSeconds(double seconds)
        {
            NativeLoader.Require();
            var status = NativeMethods.acemq_milliseconds_from_seconds(seconds, out var milliseconds, out var error);
            Interop.Check(status, error);
            return milliseconds;
        }

        /// <summary>The whole milliseconds in a number of nanoseconds.</summary>
        /// <exception cref="AceMqException">There is a rest.</exception>
        public static ulong MillisecondsFromNanoseconds(ulong nanoseconds)
        {
            NativeLoader.Require();
            var status = NativeMethods.acemq_milliseconds_from_nanoseconds(nanoseconds, out var milliseconds, out var error);
            Interop.Check(status, error);
            return milliseconds;
        }

        /// <summary>What two declarations share exactly when every broker takes them as the same.</summary>
        /// <exception cref="AceMqException">The declaration holds something that AMQP cannot carry.</exception>
        public static Fingerprint Fingerprint(Declaration declaration)
        {
            var input = new Dictionary<string, object> { { "declaration", Given(declaration, nameof(declaration)).ToInput() } };
            var answer = Ask("declaration.fingerprint", input);
            return new Fingerprint(answer.Text("canonical"), answer.Text("fingerprint"));
        }

        /// <summary>Whether a broker takes a declaration as equal to a queue that it has, and every difference.</summary>
        /// <param name="stored">The queue as the broker has it.</param>
        /// <param name="wanted">The declaration.</param>
        /// <param name="rabbitmq">The broker's version, as in <c>4.0.5</c>; the newest known one unless said.</param>
        /// <param name="defaultQueueType">The vhost's default queue type.</param>
        /// <exception cref="AceMqException">The version is none.</exception>
        public static Equivalence CompareQueues(
            Declaration stored, Declaration wanted, string rabbitmq = null, string defaultQueueType = null)
        {
            var input = new Dictionary<string, object>
            {
                { "stored", Given(stored, nameof(stored)).ToBody() },
                { "wanted", Given(wanted, nameof(wanted)).ToBody() },
            };
            Add(input, "rabbitmq", rabbitmq);
            Add(input, "default_queue_type", defaultQueueType);
            return new Equivalence(Ask("broker.equivalence", input));
        }

        /// <summary>What a broker of a version answers to a declaration of a queue or exchange, given what exists.</summary>
        /// <param name="wanted">The declaration.</param>
        /// <param name="existing">The one of that name that exists; an exclusive queue belongs to another connection.</param>
        /// <param name="rabbitmq">The broker's version, as in <c>4.0.5</c>; the newest known one unless said.</param>
        /// <param name="vhost">The vhost, for the broker's words.</param>
        /// <param name="defaultQueueType">The vhost's default queue type.</param>
        /// <returns>The refusal, or <c>null</c> when the broker accepts.</returns>
        /// <exception cref="AceMqException">The version is none.</exception>
        public static BrokerRefusal Predict(
            Declaration wanted, Declaration existing = null, string rabbitmq = null, string vhost = null, string defaultQueueType = null)
        {
            var body = new Dictionary<string, object> { { "wanted", Given(wanted, nameof(wanted)).ToBody() } };
            if (existing != null)
            {
                body.Add("existing", existing.ToBody());
            }
            var input = new Dictionary<string, object>
            {
                { "declare", new Dictionary<string, object> { { wanted.Kind, body } } },
            };
            Add(input, "rabbitmq", rabbitmq);
            Add(input, "vhost", vhost);
            Add(input, "default_queue_type", defaultQueueType);
            var refused = Ask("broker.predict", input).OptionalObject("refused");
            return refused == null ? null : BrokerRefusal.Of(refused);
        }

        /// <summary>A broker's refusal turned into the difference that it proves.</summary>
        /// <param name="text">The refusal, as clients, logs and the management API show it.</param>
        /// <param name="code">Its reply code, where that is known.</param>
        /// <param name="name">The name that was asked for, which long refusals lose.</param>
        /// <param name="vhost">The vhost.</param>
        public static Refusal ReadRefusal(string text, int? code = null, string name = null, string vhost = null)
        {
            var input = new Dictionary<string, object> { { "text", Given(text, nameof(text)) } };
            Add(input, "code", code);
            Add(input, "name", name);
            Add(input, "vhost", vhost);
            return new Refusal(Ask("broker.explain", input));
        }

        /// <summary>Whether a topic pattern matches a routing key. For one pattern and many keys see <see cref="TopicPattern"/>.</summary>
        public static bool TopicMatches(string pattern, string key)
        {
            NativeLoader.Require();
            Given(pattern, nameof(pattern));
            var characters = pattern.Length + Given(key, nameof(key)).Length;
            if (characters > Interop.StackCharacters)
            {
                return TopicMatches(Interop.Bytes(pattern, nameof(pattern)), Interop.Bytes(key, nameof(key)));
            }
            var buffer = stackalloc byte[Interop.MostBytes * characters + 1];
            var patternLength = Interop.Encode(pattern, buffer, nameof(pattern));
            var keyLength = Interop.Encode(key, buffer + patternLength, nameof(key));
            var status = NativeMethods.acemq_topic_matches(
                buffer, Interop.Size(patternLength), buffer + patternLength, Interop.Size(keyLength), out var error);
            Interop.Check(status, error);
            return status != 0;
        }

        /// <summary>Whether a topic pattern matches a routing key; both are any bytes, as in AMQP.</summary>
        public static bool TopicMatches(byte[] pattern, byte[] key)
        {
            NativeLoader.Require();
            Given(pattern, nameof(pattern));
            Given(key, nameof(key));
            fixed (byte* patternPointer = pattern)
            fixed (byte* keyPointer = key)
            {
                var status = NativeMethods.acemq_topic_matches(
                    patternPointer, Interop.Size(pattern.Length), keyPointer, Interop.Size(key.Length), out var error);
                Interop.Check(status, error);
                return status != 0;
            }
        }

        /// <summary>Fails inside the library, for the tests of this one.</summary>
        internal static void FailInside()
        {
            NativeLoader.Require();
            var status = NativeMethods.acemq_fail_inside(out var error);
            Interop.Check(status, error);
        }

        internal static T Given<T>(T value, string parameter)
            where T : class
        {
            return value ?? throw new ArgumentNullException(parameter);
        }

        internal static void Add(IDictionary<string, object> input, string name, object value)
        {
            if (value != null)
            {
                input.Add(name, value);
            }
        }
    }
}
