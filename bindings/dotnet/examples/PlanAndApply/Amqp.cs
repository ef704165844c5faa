using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.Sockets;
using System.Text;
using AceMq.Core;

namespace PlanAndApply
{
    /// <summary>What a queue holds.</summary>
    internal struct QueueCounts
    {
        internal long Messages;
        internal long Consumers;
    }

    /// <summary>The broker closed the channel or the connection.</summary>
    internal sealed class AmqpRefusedException : Exception
    {
        internal AmqpRefusedException(BrokerRefusal refusal)
            : base(refusal.ToString())
        {
            Refusal = refusal;
        }

        internal BrokerRefusal Refusal { get; }
    }

    /// <summary>
    /// As much of AMQP 0-9-1 as declaring needs, so that this example runs where RabbitMQ.Client is not at hand. A service uses
    /// its own client.
    /// </summary>
    internal sealed class AmqpConnection : IDisposable
    {
        private const int TimeoutMs = 10000;
        private const byte MethodFrame = 1;
        private const byte FrameEnd = 0xce;

        private readonly TcpClient tcp;
        private readonly Stream stream;
        private ushort channels;

        internal AmqpConnection(Uri url)
        {
            Vhost = url.AbsolutePath.Length > 1 ? Uri.UnescapeDataString(url.AbsolutePath.Substring(1)) : "/";
            tcp = new TcpClient { SendTimeout = TimeoutMs, ReceiveTimeout = TimeoutMs };
            tcp.Connect(url.Host, url.Port > 0 ? url.Port : 5672);
            stream = tcp.GetStream();
            var greeting = new byte[] { (byte)'A', (byte)'M', (byte)'Q', (byte)'P', 0, 0, 9, 1 };
            stream.Write(greeting, 0, greeting.Length);

            var start = Receive(0, 10, 10);
            start.Octet();
            start.Octet();
            ServerProperties = start.Table();
            var user = url.UserInfo.Split(new[] { ':' }, 2).Select(Uri.UnescapeDataString).ToArray();
            Send(0, new AmqpWriter(10, 11)
                .Table(new Dictionary<string, object>())
                .ShortString("PLAIN")
                .LongString("\0" + (user[0].Length > 0 ? user[0] : "guest") + "\0" + (user.Length > 1 ? user[1] : "guest"))
                .ShortString("en_US"));
            var tune = Receive(0, 10, 30);
            Send(0, new AmqpWriter(10, 31).Short(tune.Short()).Long(tune.Long()).Short(0));
            Send(0, new AmqpWriter(10, 40).ShortString(Vhost).ShortString("").Octet(0));
            Receive(0, 10, 41);
        }

        internal string Vhost { get; }

        internal IReadOnlyDictionary<string, object> ServerProperties { get; }

        internal AmqpChannel OpenChannel()
        {
            // A number is free again when both sides have closed it; counting on is simpler.
            var channel = new AmqpChannel(this, ++channels);
            Call(channel.Number, new AmqpWriter(20, 10).ShortString(""), 20, 11);
            return channel;
        }

        internal AmqpReader Call(ushort channel, AmqpWriter method, ushort answerClass, ushort answerMethod)
        {
            Send(channel, method);
            return Receive(channel, answerClass, answerMethod);
        }

        private void Send(ushort channel, AmqpWriter method)
        {
            var payload = method.ToArray();
            var frame = new AmqpWriter().Octet(MethodFrame).Short(channel).Long((uint)payload.Length).Bytes(payload).Octet(FrameEnd).ToArray();
            stream.Write(frame, 0, frame.Length);
        }

        /// <summary>The next method on a channel, which has to be this one; a close is the broker's refusal.</summary>
        private AmqpReader Receive(ushort channel, ushort wantedClass, ushort wantedMethod)
        {
            while (true)
            {
                var header = new AmqpReader(Exactly(7));
                var type = header.Octet();
                var on = header.Short();
                var payload = new AmqpReader(Exactly(checked((int)header.Long())));
                if (Exactly(1)[0] != FrameEnd)
                {
                    throw new IOException("the broker sent something that is no AMQP frame");
                }
                if (type != MethodFrame)
                {
                    continue;
                }
                var ofClass = payload.Short();
                var method = payload.Short();
                if (on == channel && ofClass == wantedClass && method == wantedMethod)
                {
                    return payload;
                }
                if (on == channel && ofClass == 20 && method == 40)
                {
                    Send(channel, new AmqpWriter(20, 41));
                    throw new AmqpRefusedException(new BrokerRefusal(payload.Short(), payload.ShortString(), RefusalScope.Channel));
                }
                if (ofClass == 10 && method == 50)
                {
                    Send(0, new AmqpWriter(10, 51));
                    throw new AmqpRefusedException(new BrokerRefusal(payload.Short(), payload.ShortString(), RefusalScope.Connection));
                }
            }
        }

        private byte[] Exactly(int count)
        {
            var bytes = new byte[count];
            for (var read = 0; read < count;)
            {
                var more = stream.Read(bytes, read, count - read);
                if (more == 0)
                {
                    throw new IOException("the broker closed the connection");
                }
                read += more;
            }
            return bytes;
        }

        public void Dispose()
        {
            tcp.Close();
        }
    }

    /// <summary>A channel, for one request.</summary>
    internal sealed class AmqpChannel : IDisposable
    {
        private readonly AmqpConnection connection;
        private bool open = true;

        internal AmqpChannel(AmqpConnection connection, ushort number)
        {
            this.connection = connection;
            Number = number;
        }

        internal ushort Number { get; }

        internal QueueCounts QueueDeclare(Declaration queue, bool passive)
        {
            var answer = Call(
                new AmqpWriter(50, 10).Short(0).ShortString(queue.Name)
                    .Bits(passive, queue.Durable, queue.Exclusive, queue.AutoDelete, false).Table(queue.Arguments),
                50,
                11);
            answer.ShortString();
            return new QueueCounts { Messages = answer.Long(), Consumers = answer.Long() };
        }

        internal void ExchangeDeclare(Declaration exchange, bool passive)
        {
            Call(
                new AmqpWriter(40, 10).Short(0).ShortString(exchange.Name).ShortString(exchange.Type)
                    .Bits(passive, exchange.Durable, exchange.AutoDelete, exchange.Internal, false).Table(exchange.Arguments),
                40,
                11);
        }

        internal void Bind(Declaration binding)
        {
            var exchange = binding.ToExchange;
            Call(
                new AmqpWriter((ushort)(exchange ? 40 : 50), (ushort)(exchange ? 30 : 20)).Short(0)
                    .ShortString(binding.Destination).ShortString(binding.Source).ShortString(binding.RoutingKey).Bits(false)
                    .Table(binding.Arguments),
                (ushort)(exchange ? 40 : 50),
                (ushort)(exchange ? 31 : 21));
        }

        private AmqpReader Call(AmqpWriter method, ushort answerClass, ushort answerMethod)
        {
            try
            {
                return connection.Call(Number, method, answerClass, answerMethod);
            }
            catch
            {
                open = false;
                throw;
            }
        }

        public void Dispose()
        {
            if (open)
            {
                Call(new AmqpWriter(20, 40).Short(200).ShortString("done").Short(0).Short(0), 20, 41);
            }
        }
    }

    /// <summary>Writes a method's arguments.</summary>
    internal sealed class AmqpWriter
    {
        private readonly MemoryStream bytes = new MemoryStream();

        internal AmqpWriter()
        {
        }

        internal AmqpWriter(ushort ofClass, ushort method)
        {
            Short(ofClass).Short(method);
        }

        internal byte[] ToArray()
        {
            return bytes.ToArray();
        }

        internal AmqpWriter Octet(byte value)
        {
            bytes.WriteByte(value);
            return this;
        }

        internal AmqpWriter Bits(params bool[] bits)
        {
            return Octet((byte)bits.Select((bit, index) => bit ? 1 << index : 0).Sum());
        }

        internal AmqpWriter Short(ushort value)
        {
            return Octet((byte)(value >> 8)).Octet((byte)value);
        }

        internal AmqpWriter Long(uint value)
        {
            return Short((ushort)(value >> 16)).Short((ushort)value);
        }

        internal AmqpWriter LongLong(ulong value)
        {
            return Long((uint)(value >> 32)).Long((uint)value);
        }

        internal AmqpWriter Bytes(byte[] value)
        {
            bytes.Write(value, 0, value.Length);
            return this;
        }

        internal AmqpWriter ShortString(string text)
        {
            var encoded = Encoding.UTF8.GetBytes(text);
            return Octet(checked((byte)encoded.Length)).Bytes(encoded);
        }

        internal AmqpWriter LongString(string text)
        {
            var encoded = Encoding.UTF8.GetBytes(text);
            return Long((uint)encoded.Length).Bytes(encoded);
        }

        internal AmqpWriter Table(IReadOnlyDictionary<string, object> table)
        {
            var entries = new AmqpWriter();
            foreach (var entry in table)
            {
                entries.ShortString(entry.Key).Value(entry.Value);
            }
            var encoded = entries.ToArray();
            return Long((uint)encoded.Length).Bytes(encoded);
        }

        private AmqpWriter Value(object value)
        {
            if (value is bool flag)
            {
                return Octet((byte)'t').Octet((byte)(flag ? 1 : 0));
            }
            if (value is long number)
            {
                return Octet((byte)'l').LongLong((ulong)number);
            }
            if (value is double fraction)
            {
                return Octet((byte)'d').LongLong((ulong)BitConverter.DoubleToInt64Bits(fraction));
            }
            if (value is string text)
            {
                return Octet((byte)'S').LongString(text);
            }
            if (value is IReadOnlyDictionary<string, object> table && !table.Keys.Any(name => name.StartsWith("@", StringComparison.Ordinal)))
            {
                return Octet((byte)'F').Table(table);
            }
            throw new NotSupportedException("this example sends no " + value);
        }
    }

    /// <summary>Reads a method's arguments.</summary>
    internal sealed class AmqpReader
    {
        private readonly byte[] bytes;
        private int at;

        internal AmqpReader(byte[] bytes)
        {
            this.bytes = bytes;
        }

        internal byte Octet()
        {
            return bytes[at++];
        }

        internal ushort Short()
        {
            return (ushort)(Octet() << 8 | Octet());
        }

        internal uint Long()
        {
            return (uint)Short() << 16 | Short();
        }

        internal string ShortString()
        {
            return Text(Octet());
        }

        private string Text(int length)
        {
            at += length;
            return Encoding.UTF8.GetString(bytes, at - length, length);
        }

        internal Dictionary<string, object> Table()
        {
            var table = new Dictionary<string, object>();
            var length = Long();
            for (var end = at + length; at < end;)
            {
                var name = ShortString();
                table[name] = Value((char)Octet());
            }
            return table;
        }

        private object Value(char type)
        {
            switch (type)
            {
                case 't':
                    return Octet() != 0;
                case 'I':
                case 'i':
                    return (long)(int)Long();
                case 'l':
                    return (long)((ulong)Long() << 32 | Long());
                case 'S':
                    return Text(checked((int)Long()));
                case 'F':
                    return Table();
                default:
                    throw new NotSupportedException("this example reads no field of type " + type);
            }
        }
    }
}
