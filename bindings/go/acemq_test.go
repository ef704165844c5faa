package acemq_test

import (
	"context"
	"errors"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	acemq "github.com/acemq/acemq-core/bindings/go"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// refused fails the test unless err is an *acemq.Error with that code.
func refused(t *testing.T, err error, code string) *acemq.Error {
	t.Helper()
	var e *acemq.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *acemq.Error, wanted %s", err, code)
	}
	if e.Code != code {
		t.Fatalf("code %s, wanted %s: %v", e.Code, code, e)
	}
	if e.Message == "" || len(e.Problems) == 0 || e.Problems[0].Code != e.Code {
		t.Fatalf("an error without its particulars: %#v", e)
	}
	return e
}

func equal[T any](t *testing.T, got, wanted T) {
	t.Helper()
	if !reflect.DeepEqual(got, wanted) {
		t.Fatalf("got    %#v\nwanted %#v", got, wanted)
	}
}

func TestVersions(t *testing.T) {
	if acemq.ABIVersion()>>16 != 1 || acemq.SpecVersion() < 1 || !strings.Contains(acemq.Version(), ".") {
		t.Fatal(acemq.ABIVersion(), acemq.SpecVersion(), acemq.Version())
	}
}

func TestNamesThatAQueueImplies(t *testing.T) {
	equal(t, must(acemq.DeadLetterQueue("orders")), "orders.dlq")
	equal(t, must(acemq.ParkedQueue("a\x00b")), "a\x00b.parked")
	equal(t, must(acemq.RetryQueue("orders", 90*time.Second)), "orders.retry.90s")
	equal(t, must(acemq.DelayText(2*time.Hour)), "2h")
	equal(t, must(acemq.ImpliedNames("q")), acemq.Names{
		DeadLetterQueue: "q.dlq", ParkedQueue: "q.parked", DeadLetterExchange: "acemq.dlx", RetryExchange: "acemq.retry",
	})
	_, err := acemq.DeadLetterQueue(strings.Repeat("x", 252))
	e := refused(t, err, "name_too_long")
	equal(t, e.Fields["suffix"], any(".dlq"))
	_, err = acemq.DeadLetterQueue("a\xff")
	refused(t, err, "invalid_utf8")
	_, err = acemq.ImpliedNames("a\xff")
	refused(t, err, "invalid_utf8")
	_, err = acemq.CheckName(acemq.ExchangeName, "amq.topic")
	refused(t, err, "name_reserved")
	equal(t, must(acemq.CheckName(acemq.QueueName, "ü")).Bytes, 2)
}

func TestDurationsAreExactOrRefused(t *testing.T) {
	equal(t, must(acemq.ParseDuration("90s")), 90*time.Second)
	_, err := acemq.ParseDuration("90")
	refused(t, err, "duration_no_unit")
	_, err = acemq.RetryQueue("q", 1500*time.Microsecond)
	refused(t, err, "duration_not_whole")
	_, err = acemq.DelayText(-time.Second)
	refused(t, err, "duration_negative")
	equal(t, must(acemq.Milliseconds(time.Minute)), 60_000)
	equal(t, must(acemq.MillisecondsFromSeconds(0.3)), 300)
	_, err = acemq.MillisecondsFromSeconds(0.3005)
	refused(t, err, "duration_not_whole")
	// 2⁶⁴ - 1 ms are far more than a time.Duration holds.
	equal(t, must(acemq.ParseDuration("18446744073709551615ms")), math.MaxInt64)
}

func TestRetryPolicies(t *testing.T) {
	policy := must(acemq.ExponentialRetry(6, 10*time.Second, acemq.WithCap(5*time.Minute)))
	equal(t, policy.String(), "exponential(6, 10s, 5m)")
	equal(t, policy.MaxAttempts(), 6)
	equal(t, slices.Collect(policy.Schedule()), []time.Duration{
		10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second,
	})
	equal(t, policy.BrokerDelays(), []time.Duration{40 * time.Second, 80 * time.Second, 160 * time.Second})
	equal(t, must(policy.Decide(3, acemq.AgeUnknown, 0.5)).Wait, 40*time.Second)
	gaveUp := must(policy.Decide(6, 0, 0.5))
	equal(t, gaveUp.Reason, acemq.AttemptsExhausted)
	equal(t, gaveUp.GiveUpText, "exhausted 6 attempts")
	_, err := policy.Decide(1, 0, 1)
	refused(t, err, "random_out_of_range")

	// An age is measured: its fraction of a millisecond has not passed.
	limited := must(acemq.FixedRetry(5, time.Second, acemq.WithGiveUpAfter(time.Minute), acemq.WithJitter(0)))
	equal(t, must(limited.Decide(1, time.Minute-time.Nanosecond, 0)).Retry, true)
	equal(t, must(limited.Decide(1, time.Minute, 0)).Reason, acemq.TooOld)
	equal(t, must(limited.Decide(1, -time.Hour, 0)).Retry, true)

	again := must(acemq.ParseRetryPolicy(limited.String()))
	equal(t, again.String(), limited.String())
	_, err = acemq.ExponentialRetry(0, 0, acemq.WithCap(0))
	equal(t, len(refused(t, err, "attempts_too_few").Problems), 3)
	_, err = acemq.FixedRetry(2, time.Nanosecond)
	refused(t, err, "duration_not_whole")
	_, err = acemq.FixedRetry(2, time.Second, acemq.WithCap(time.Minute))
	refused(t, err, "unknown_key")
	_, err = acemq.ExponentialRetry(2, time.Second, acemq.WithJitter(math.NaN()))
	refused(t, err, "wrong_value")
	equal(t, must(acemq.NoRetry()).String(), "none()")
}

func TestLadders(t *testing.T) {
	ladder := must(acemq.NewLadder("orders", acemq.MustRetryPolicy("exponential(6, 10s)")))
	decision := must(ladder.Decide(4, acemq.AgeUnknown, 0.1))
	equal(t, decision.Rung, "orders.retry.80s")
	equal(t, must(ladder.Decide(1, acemq.AgeUnknown, 0.5)).Rung, "")
	equal(t, ladder.RungFor(41*time.Second).Name, "orders.retry.80s")
	equal(t, ladder.RungFor(time.Second), nil)
	equal(t, len(ladder.Rungs()), 3)
	equal(t, ladder.Rungs()[0].Arguments, acemq.Table{
		"x-message-ttl": int64(40_000), "x-dead-letter-exchange": "acemq.retry", "x-dead-letter-routing-key": "orders",
	})
	equal(t, ladder.Exchange().Name, "acemq.retry")
	equal(t, ladder.Binding().Declaration(), acemq.BindingDeclaration{
		Source: "acemq.retry", Destination: "orders", DestinationType: "queue", RoutingKey: "orders", Arguments: acemq.Table{},
	})
	none := must(acemq.NewLadder("orders", acemq.MustRetryPolicy("none()")))
	if none.Exchange() != nil || none.Binding() != nil || len(none.Rungs()) != 0 {
		t.Fatal("no rungs need no exchange")
	}
}

func TestTopicPatternsAndMatchers(t *testing.T) {
	if !acemq.TopicMatches("orders.*.eu", "orders.new.eu") || acemq.TopicMatches("*", "") {
		t.Fatal("a word is a word")
	}
	pattern := must(acemq.NewTopicPattern("a.#"))
	keys := acemq.NewKeys("a", "b", "", "a.\xff")
	equal(t, must(pattern.MatchesAll(keys)), []bool{true, false, false, true})
	equal(t, must(pattern.MatchesAll(&acemq.Keys{})), []bool{})
	if !pattern.Matches("a.b.c") {
		t.Fatal("a.# reaches everything below a")
	}
	matcher := must(acemq.NewTopicMatcher())
	for value, bound := range []string{"a.#", "#", "a.*", "#.b"} {
		equal(t, must(matcher.Insert(bound, uint64(value))), true)
	}
	equal(t, must(matcher.Insert("#", 1)), false)
	equal(t, must(matcher.Matches("a.b")), []uint64{0, 1, 2, 3})
	equal(t, must(matcher.AppendMatches([]uint64{9}, "b")), []uint64{9, 1, 3})
	matched := must(matcher.MatchesAll(keys))
	var all [][]uint64
	for _, values := range matched.All() {
		all = append(all, values)
	}
	equal(t, all, [][]uint64{{0, 1}, {1, 3}, {1}, {0, 1, 2}})
	// More values than the first guess has room for.
	for value := range uint64(100) {
		must(matcher.Insert("a", 100+value))
	}
	equal(t, len(must(matcher.MatchesAll(acemq.NewKeys("a"))).Of(0)), 102)
	equal(t, must(matcher.Remove("#", 1)), true)
	equal(t, must(matcher.Remove("#", 1)), false)
	equal(t, matcher.Len(), 103)
}

func TestTopologiesFromCallsAndFromText(t *testing.T) {
	built := acemq.NewTopology().
		Retries("orders", acemq.MustRetryPolicy("fixed(3, 40s)")).
		Exchange("events", "topic").
		QueueWithDeadLetter("orders").
		Bind("orders", "events", "order.*").
		QueueArg("orders", "x-max-length", 1000).
		Build()
	parsed := acemq.ParseTopology(`
exchanges: { events: { type: topic } }
queues: { orders: { dead_letter: true, retry: "fixed(3, 40s)", arguments: { x-max-length: 1000 } } }
bindings: [{ queue: orders, exchange: events, routing_key: order.* }]
`)
	tables := must(built.Tables())
	equal(t, tables, must(parsed.Tables()))
	equal(t, tables.Queue("orders").Arguments["x-max-length"], any(int64(1000)))
	equal(t, tables.Queue("orders").Type, "quorum")
	equal(t, tables.Queue("nobody"), nil)
	intent := must(built.Intent())
	if !strings.HasPrefix(intent, "Topology: 3 exchanges, 4 queues, 4 bindings\n") {
		t.Fatal(intent)
	}
	identity := must(acemq.Fingerprint(tables.Queue("orders").Declaration()))
	equal(t, identity.Fingerprint, tables.Queue("orders").Fingerprint)
	consumer := must(acemq.ConsumerDeclarations("orders", acemq.MustRetryPolicy("fixed(3, 40s)")))
	if consumer.Queue("orders") != nil || consumer.Queue("orders.retry.40s") == nil || consumer.Queue("orders.dlq") == nil {
		t.Fatalf("%+v", consumer)
	}
}

func TestEverythingThatIsWrongIsReportedAtOnce(t *testing.T) {
	wrong := acemq.NewTopology().Exchange("e", "topik").Bind("q", "x", "k")
	problems := must(wrong.Build().Problems())
	var codes []string
	for _, problem := range problems {
		codes = append(codes, problem.Code)
		if problem.Severity != "error" || problem.Object == nil {
			t.Fatalf("%+v", problem)
		}
	}
	slices.Sort(codes)
	equal(t, codes, []string{"binding_exchange_undeclared", "binding_queue_undeclared", "exchange_type_unknown"})
	_, err := wrong.Build().Tables()
	var e *acemq.Error
	if !errors.As(err, &e) || len(e.Problems) != 3 {
		t.Fatal(err)
	}
	at := must(acemq.ParseTopology("queues:\n  a: { type: quorun }\n").Problems())
	equal(t, at[0].At.Line, 2)
	_, err = acemq.NewTopology().Queue("a\xff").Build().Tables()
	refused(t, err, "invalid_utf8")
	_, err = acemq.NewTopology().Queue("a").QueueArg("a", "x-expires", time.Minute).Build().Tables()
	refused(t, err, "wrong_value")
}

func TestValuesKeepTheirTypes(t *testing.T) {
	arguments := acemq.Table{
		"bool": true, "int": int64(-5), "text": "ü\x00", "double": 5.0, "single": float32(1.5), "nan": math.Inf(1),
		"b": int8(-1), "B": uint8(2), "s": int16(-3), "u": uint16(4), "I": int32(-5), "i": uint32(6),
		"decimal": acemq.Decimal{Scale: 2, Unscaled: 314}, "bytes": []byte{0xff, 0}, "time": time.Unix(1_700_000_000, 0).UTC(),
		"void": nil, "array": []any{int64(1), "a", acemq.Table{"@x": int64(1)}}, "table": acemq.Table{"@d": "x", "y": false},
	}
	broker := must(acemq.NewEmbeddedBroker(acemq.EmbeddedOptions{}))
	defer broker.Close()
	channel := must(must(broker.Connect()).OpenChannel())
	must(channel.DeclareQueue(acemq.QueueDeclaration{Name: "q", Durable: true}))
	body := acemq.Body{0xff, 0xfe}
	must(channel.Publish(acemq.Publication{RoutingKey: "q", Body: body, Properties: acemq.Properties{Headers: arguments}}))
	delivery := must(channel.Get("q", true))
	equal(t, delivery.Properties.Headers, arguments)
	equal(t, delivery.Body, body)
}

func TestWhatABrokerAnswersAndSays(t *testing.T) {
	stored := acemq.QueueDeclaration{Name: "q", Durable: true, Arguments: acemq.Table{"x-message-ttl": 1}}
	wanted := acemq.QueueDeclaration{Name: "q", Durable: true}
	on405 := acemq.BrokerVersion{RabbitMQ: "4.0.5"}
	compared := must(acemq.CompareQueues(stored, wanted, on405))
	equal(t, compared, acemq.Equivalence{Differences: []acemq.QueueDifference{
		{Argument: "x-message-ttl", Current: int64(1), HasCurrent: true, Compared: true},
	}})
	predicted := must(acemq.PredictQueue(wanted, &stored, on405))
	equal(t, predicted.Refused.Code, 406)
	refusal := must(acemq.ReadRefusal(predicted.Refused.Text, acemq.RefusalContext{}))
	equal(t, refusal.Class, "inequivalent")
	equal(t, refusal.Argument, "x-message-ttl")
	equal(t, *refusal.Current, acemq.PrintedValue{Value: "1", Type: "long"})
	equal(t, must(acemq.PredictExchange(acemq.ExchangeDeclaration{Name: "e", Type: "topic"}, nil, on405)).Accepted, true)
	_, err := acemq.PredictQueue(wanted, nil, acemq.BrokerVersion{RabbitMQ: "four"})
	refused(t, err, "version_unknown")
}

func TestASessionIsDrivenToItsEnd(t *testing.T) {
	broker := must(acemq.NewEmbeddedBroker(acemq.EmbeddedOptions{BrokerVersion: acemq.BrokerVersion{RabbitMQ: "4.0.5"}}))
	connection := must(broker.Connect())
	topology := acemq.NewTopology().Exchange("events", "topic").QueueWithDeadLetter("orders").Bind("orders", "events", "#").Build()
	ask := func(_ context.Context, question acemq.Question) acemq.Answer {
		return must(connection.Ask(question))
	}
	run := func(options acemq.SessionOptions) *acemq.Plan {
		options.Version, options.VHost = "4.0.5", "/"
		session := must(acemq.NewPlanSession(topology, options))
		defer session.Close()
		return must(session.Run(context.Background(), ask))
	}
	plan := run(acemq.SessionOptions{})
	equal(t, plan.Summary.Create, 3)
	equal(t, len(plan.Actions), 8)
	if must(broker.Contents("orders")) != nil {
		t.Fatal("asking has created something")
	}
	applied := run(acemq.SessionOptions{Apply: true})
	if !applied.Finished || applied.Err != nil {
		t.Fatal(applied.Err)
	}
	equal(t, run(acemq.SessionOptions{Exchanges: true}).Summary.Create, 0)

	// The same queue with another table.
	topology = acemq.NewTopology().QueueDeclaration(acemq.QueueDeclaration{
		Name: "orders", Durable: true, Arguments: acemq.Table{"x-max-length": 5},
	}).Build()
	drifted := run(acemq.SessionOptions{Apply: true})
	equal(t, drifted.Summary.Drift, 1)
	var why *acemq.ApplyError
	if !errors.As(drifted.Err, &why) || !strings.Contains(why.Error(), "nothing was declared: 1 queue differs") {
		t.Fatal(drifted.Err)
	}
	difference := drifted.Actions[0].Differences[0]
	equal(t, difference.Argument, "x-dead-letter-exchange")
	equal(t, difference.Current, any("acemq.dlx"))
	if !strings.HasPrefix(drifted.Drift(), "drift: queue orders: the broker refused the declaration: ") {
		t.Fatal(drifted.Drift())
	}
}

func TestASessionAnswersToItsContextAndCanBeRenderedInEveryStyle(t *testing.T) {
	topology := acemq.ParseTopology("queues: { orders.created.in.the.shop: {}, b: {} }")
	session := must(acemq.NewPlanSession(topology, acemq.SessionOptions{Version: "4.0.5"}))
	ctx, cancel := context.WithCancel(context.Background())
	plan, err := session.Run(ctx, func(context.Context, acemq.Question) acemq.Answer {
		cancel()
		return acemq.Failed("the connection was lost")
	})
	if !errors.Is(err, context.Canceled) || plan == nil || plan.Summary.Unknown != 2 {
		t.Fatal(plan, err)
	}
	equal(t, plan.Actions[0].Reason, "connection_lost")
	equal(t, plan.String(), must(plan.Render(acemq.PlanStyle, 0)))
	for _, line := range strings.Split(must(plan.Render(acemq.PlanStyle, 40)), "\n") {
		if len([]rune(line)) > 40 && strings.Contains(strings.TrimSpace(line), " ") && !strings.Contains(line, "orders.created") {
			t.Fatalf("%q is too wide", line)
		}
	}
	if !strings.Contains(must(plan.Render(acemq.LinesStyle, 0)), "queue b: durable, quorum") {
		t.Fatal(plan.Render(acemq.LinesStyle, 0))
	}
	refused(t, session.Answer(99, acemq.Accepted(0, 0)), "answer_refused")
}

func TestRouters(t *testing.T) {
	topology := acemq.NewTopology().Exchange("events", "topic").Queue("orders").Bind("orders", "events", "order.*").Build()
	router := must(acemq.NewRouter(acemq.FromTopology(topology, acemq.BrokerVersion{})))
	route := must(router.Route(acemq.RoutedMessage{Exchange: "events", Key: "order.new"}))
	equal(t, route.Queues, []string{"orders"})
	explained := must(router.Explain(acemq.RoutedMessage{Exchange: "events", Key: "orders.new"}))
	if len(explained.Queues) != 0 || len(explained.Misses) == 0 {
		t.Fatalf("%s", explained.Document)
	}
	definitions := `{"vhosts":[{"name":"/"}],"queues":[{"name":"q","vhost":"/","durable":true,"auto_delete":false,"arguments":{}}]}`
	exported := must(acemq.NewRouter(acemq.FromDefinitions(definitions, acemq.BrokerVersion{})))
	equal(t, must(exported.Route(acemq.RoutedMessage{Key: "q"})).Queues, []string{"q"})
	_, err := acemq.NewRouter(acemq.FromDefinitions("{}", acemq.BrokerVersion{VHost: "x"}))
	if err == nil {
		t.Fatal("an export without anything holds no vhost")
	}
}

func TestAMessageDiesInTheEmbeddedBroker(t *testing.T) {
	topology := acemq.NewTopology().QueueWithDeadLetter("orders").Build()
	broker := must(acemq.NewEmbeddedBroker(acemq.EmbeddedOptions{Topology: topology, History: true}))
	channel := must(must(broker.Connect()).OpenChannel())
	published := must(channel.Publish(acemq.Publication{RoutingKey: "orders", Body: acemq.Body("hello")}))
	equal(t, published.Queues, []string{"orders"})
	tag := must(channel.Consume(acemq.Subscription{Queue: "orders"}))
	events := must(channel.Events())
	equal(t, events[0].Delivered.ConsumerTag, tag)
	if err := channel.Reject(events[0].Delivered.DeliveryTag, false); err != nil {
		t.Fatal(err)
	}
	dead := must(broker.Contents("orders.dlq"))
	equal(t, string(dead.Ready[0].Body), "hello")
	clone := must(broker.Clone())
	must(channel.Purge("orders.dlq"))
	equal(t, len(must(clone.Contents("orders.dlq")).Ready), 1)
	equal(t, len(must(broker.Contents("orders.dlq")).Ready), 0)
	if must(broker.Contents("nobody")) != nil {
		t.Fatal("there is no such queue")
	}
	_, err := channel.Get("nobody", true)
	var refusal *acemq.Refused
	if !errors.As(err, &refusal) || refusal.Code != 404 || refusal.Scope != "channel" {
		t.Fatal(err)
	}
	equal(t, must(channel.IsOpen()), false)
	now := must(broker.Advance(90 * time.Second))
	equal(t, now, time.Unix(90, 0).UTC())
	if len(must(broker.History())) == 0 {
		t.Fatal("nothing happened")
	}
}

func TestTheTableOfOperations(t *testing.T) {
	var answer struct{ Text string }
	if err := acemq.Call("name.delay", map[string]any{"delay_ms": 90_000}, &answer); err != nil || answer.Text != "90s" {
		t.Fatal(answer, err)
	}
	refused(t, acemq.Call("name.delays", nil, nil), "unknown_operation")
	refused(t, acemq.Call("name.delay", map[string]any{"delay": 1}, nil), "unknown_key")
	operations := must(acemq.Operations())
	if len(operations) < 20 || operations[0].Name == "" || len(operations[0].Input) == 0 {
		t.Fatalf("%+v", operations)
	}
}

func TestTheHeaderIsTheLibrarys(t *testing.T) {
	ours, err := os.ReadFile("include/acemq.h")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile("../c/include/acemq.h")
	if err != nil {
		t.Skip("not in the repository")
	}
	if string(ours) != string(theirs) {
		t.Fatal("include/acemq.h is not that of bindings/c any more: copy it")
	}
}
