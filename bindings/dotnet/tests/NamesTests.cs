using System;
using System.Collections.Generic;
using System.Linq;
using AceMq.Core.Json;

namespace AceMq.Core.Tests
{
    internal static class NamesTests
    {
        public static void NamesHangOnTheQueue()
        {
            Check.Equal("orders.dlq", Engine.DeadLetterQueue("orders"));
            Check.Equal("orders.parked", Engine.ParkedQueue("orders"));
            Check.Equal("orders.retry.40s", Engine.RetryQueue("orders", TimeSpan.FromSeconds(40)));
            var names = Engine.ImpliedNames("orders");
            Check.Equal("acemq.dlx", names.DeadLetterExchange);
            Check.Equal("acemq.retry", names.RetryExchange);
        }

        public static void ANameIsAnyUnicodeAndANulIsData()
        {
            Check.Equal("größe.😀.dlq", Engine.DeadLetterQueue("größe.😀"));
            Check.Equal("a\0b.dlq", Engine.DeadLetterQueue("a\0b"));
            Check.Equal(4, Engine.CheckName(NameKind.Queue, "😀").Bytes);
        }

        public static void HalfASurrogatePairIsRefusedInsteadOfReplaced()
        {
            var error = Check.Refuses("invalid_utf8", () => Engine.DeadLetterQueue("ab\ud83d"));
            Check.Contains("at character 2", error.Message);
            Check.Refuses("invalid_utf8", () => Engine.TopicMatches("#", "\ude00"));
            Check.Refuses("invalid_utf8", () => Engine.CallJson("name.implied", "{\"queue\":\"\ud83d\"}"));
        }

        public static void NoNameIsTheCallersMistake()
        {
            Check.Throws<ArgumentNullException>(() => Engine.DeadLetterQueue(null));
            Check.Throws<ArgumentNullException>(() => Engine.TopicMatches("#", null));
            Check.Throws<ArgumentNullException>(() => Engine.CheckName(NameKind.Queue, null));
        }

        public static void AnErrorHasCodeHelpFieldsAndAllProblems()
        {
            var error = Check.Refuses("name_reserved", () => Engine.CheckName(NameKind.Queue, "amq.\n"));
            Check.Equal(new[] { "name_line_break", "name_reserved" }, error.Problems.Select(problem => problem.Code).OrderBy(code => code).ToArray());
            Check.Equal("queue", error.Fields["kind"]);
            Check.True(error.Help.Length > 0, "help says the way out");
            Check.Contains(error.Help, error.Message);
            Check.Equal(error.Help, error.Problems[0].Help);
        }

        public static void DelaysAreWrittenInTheLargestUnitThatFits()
        {
            Check.Equal("2h", Engine.DelayText(TimeSpan.FromHours(2)));
            Check.Equal("90s", Engine.DelayText(TimeSpan.FromSeconds(90)));
            Check.Equal("30500ms", Engine.DelayText(TimeSpan.FromSeconds(30.5)));
            Check.Refuses("delay_zero", () => Engine.DelayText(TimeSpan.Zero));
        }

        public static void ATimeSpanIsTakenExactlyOrNotAtAll()
        {
            Check.Equal(1UL, Engine.Milliseconds(TimeSpan.FromTicks(10000)));
            Check.Equal(922337203685477UL, Engine.Milliseconds(TimeSpan.FromTicks(922337203685477L * 10000)));
            Check.Refuses("duration_not_whole", () => Engine.Milliseconds(TimeSpan.FromTicks(1)));
            Check.Refuses("duration_not_whole", () => Engine.Milliseconds(TimeSpan.FromTicks(10001)));
            Check.Refuses("duration_negative", () => Engine.Milliseconds(TimeSpan.FromTicks(-10000)));
            Check.Refuses("duration_negative", () => Engine.Milliseconds(TimeSpan.MinValue));
            Check.Throws<AceMqException>(() => Engine.Milliseconds(TimeSpan.MaxValue));
            Check.Equal(TimeSpan.FromMinutes(5), Engine.ParseDuration("5m"));
            Check.Equal(TimeSpan.Zero, Engine.ParseDuration("0"));
            Check.Equal(922337203685477L * 10000, Engine.ParseDuration("922337203685477ms").Ticks);
            Check.Refuses("duration_too_large", () => Engine.ParseDuration("922337203685478ms"));
            Check.Equal(ulong.MaxValue, Engine.ParseMilliseconds("18446744073709551615ms"));
        }

        public static void FractionsOfSecondsAreRounded()
        {
            // 0.29 has no exact double: cut instead of rounded it would be 289.
            Check.Equal(290UL, Engine.MillisecondsFromSeconds(0.29));
            Check.Refuses("duration_not_whole", () => Engine.MillisecondsFromSeconds(0.0005));
        }

        public static void TheTableIsThereAsItIs()
        {
            var output = Engine.Call("name.implied", new Dictionary<string, object> { { "queue", "orders" } });
            Check.Equal("orders.dlq", output["dead_letter_queue"]);
            Check.Equal("{\"text\":\"40s\"}", Engine.CallJson("name.delay", "{\"delay_ms\": 40000}"));
            Check.Refuses("unknown_operation", () => Engine.CallJson("name.imply", "{}"));
            Check.Refuses("unknown_key", () => Engine.CallJson("name.implied", "{\"queue\": \"a\", \"que\": 1}"));
            Check.Refuses("bad_input", () => Engine.CallJson("name.implied", "{"));
            Check.True(Engine.Operations.Any(row => (string)row["name"] == "retry.decide"), "the table lists itself");
        }

        public static void VersionsAreThoseOfTheLibrary()
        {
            Check.Equal(1, Engine.AbiVersion.Major);
            Check.True(System.Version.TryParse(Engine.Version, out _), Engine.Version);
            Check.True(Engine.SpecVersion >= 1, "there are suites");
        }

        public static void AFaultInsideTheLibraryIsAnException()
        {
            for (var round = 0; round < 100; round++)
            {
                Check.Refuses("internal", Engine.FailInside);
            }
            Check.Equal("orders.dlq", Engine.DeadLetterQueue("orders"));
        }
    }
}
