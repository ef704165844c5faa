package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	acemq "github.com/acemq/acemq-core/bindings/go"
	amqp "github.com/rabbitmq/amqp091-go"
)

// A real broker is named by ACEMQ_BROKER. Or ACEMQ_TEST_BROKER is a command that starts one: it prints a line of JSON with its
// `url` and stops the broker when its standard input ends.
var url = os.Getenv("ACEMQ_BROKER")

func TestMain(m *testing.M) {
	command := strings.Fields(os.Getenv("ACEMQ_TEST_BROKER"))
	if url != "" || len(command) == 0 {
		os.Exit(m.Run())
	}
	started := exec.Command(command[0], command[1:]...)
	started.Stderr = os.Stderr
	input, err := started.StdinPipe()
	if err != nil {
		panic(err)
	}
	output, err := started.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := started.Start(); err != nil {
		panic(err)
	}
	var node struct{ URL, Version string }
	code := 1
	if err := json.NewDecoder(output).Decode(&node); err == nil {
		url = node.URL
		code = m.Run()
		fmt.Println("RabbitMQ", node.Version)
	}
	input.Close()
	if err := started.Wait(); err != nil {
		panic(err)
	}
	os.Exit(code)
}

func connected(t *testing.T) (Broker, acemq.SessionOptions) {
	t.Helper()
	if url == "" {
		t.Skip("neither ACEMQ_BROKER nor ACEMQ_TEST_BROKER is set")
	}
	connection, err := amqp.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	broker := Broker{connection, 30 * time.Second}
	return broker, acemq.SessionOptions{
		Product: broker.Product(), Version: broker.Version(), VHost: connection.Config.Vhost, Exchanges: true,
	}
}

func drive(t *testing.T, broker Broker, topology *acemq.Topology, options acemq.SessionOptions) *acemq.Plan {
	t.Helper()
	plan, err := Drive(t.Context(), broker, topology, options)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestARealBrokerIsPlannedAppliedAndLeftWithNothingToDo(t *testing.T) {
	broker, options := connected(t)
	topology := acemq.NewTopology().
		Exchange("go.orders", "topic").
		QueueWithDeadLetter("go.orders.new").
		Retries("go.orders.new", acemq.MustRetryPolicy("exponential(6, 10s)")).
		Bind("go.orders.new", "go.orders", "order.*").
		Build()

	plan := drive(t, broker, topology, options)
	// An exchange of its own, two shared ones; source, .dlq, .parked and three rungs; four bindings.
	if plan.Summary.Create < 7 || plan.Summary.Drift+plan.Summary.Invalid > 0 {
		t.Fatalf("%+v\n%s", plan.Summary, plan)
	}
	channel, err := broker.Connection.Channel()
	if err != nil {
		t.Fatal(err)
	}
	defer channel.Close()
	if again := drive(t, broker, topology, options); again.String() != plan.String() {
		t.Fatalf("asking has changed something:\n%s", again)
	}

	options.Apply = true
	applied := drive(t, broker, topology, options)
	if !applied.Finished || applied.Err != nil {
		t.Fatalf("%v\n%s", applied.Err, applied)
	}
	options.Apply = false
	after := drive(t, broker, topology, options)
	if after.Summary.Create > 0 {
		t.Fatalf("something is left to do:\n%s", after)
	}

	// It works: a rejected message reaches the dead-letter queue.
	publish(t, channel, "go.orders", "order.placed", "hello")
	delivery := get(t, channel, "go.orders.new")
	if err := delivery.Reject(false); err != nil {
		t.Fatal(err)
	}
	if dead := get(t, channel, "go.orders.new.dlq"); string(dead.Body) != "hello" {
		t.Fatalf("%q", dead.Body)
	}
}

func TestARealBrokersDifferencesAreFoundAndNothingIsDeclared(t *testing.T) {
	broker, options := connected(t)
	channel, err := broker.Connection.Channel()
	if err != nil {
		t.Fatal(err)
	}
	defer channel.Close()
	if _, err := channel.QueueDeclare("go.drifted", true, false, false, false, amqp.Table{"x-message-ttl": int64(60_000)}); err != nil {
		t.Fatal(err)
	}
	topology := acemq.NewTopology().OfType("go.drifted", "classic").QueueArg("go.drifted", "x-message-ttl", 30_000).
		Queue("go.drifted").Queue("go.never").Build()
	options.Apply = true
	plan := drive(t, broker, topology, options)
	if plan.Err == nil || !strings.Contains(plan.Err.Error(), "queue go.drifted: x-message-ttl is 60000 on the broker, 30000 here") {
		t.Fatalf("%v\n%s", plan.Err, plan)
	}
	if _, err := channel.QueueDeclarePassive("go.never", true, false, false, false, nil); err == nil {
		t.Fatal("an apply that is refused has declared something")
	}
}

func TestALostConnectionIsAnAnswerToo(t *testing.T) {
	broker, options := connected(t)
	broker.Connection.Close()
	plan := drive(t, broker, acemq.NewTopology().Queue("go.lost").Build(), options)
	if plan.Summary.Unknown == 0 || plan.Summary.Create > 1 {
		t.Fatalf("%+v\n%s", plan.Summary, plan)
	}
}

func publish(t *testing.T, channel *amqp.Channel, exchange, key, body string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := channel.Confirm(false); err != nil {
		t.Fatal(err)
	}
	confirmation, err := channel.PublishWithDeferredConfirmWithContext(ctx, exchange, key, true, false, amqp.Publishing{
		Body: []byte(body),
	})
	if err != nil {
		t.Fatal(err)
	}
	if confirmed, err := confirmation.WaitContext(ctx); err != nil || !confirmed {
		t.Fatal(confirmed, err)
	}
}

func get(t *testing.T, channel *amqp.Channel, queue string) amqp.Delivery {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		delivery, found, err := channel.Get(queue, false)
		if err != nil {
			t.Fatal(err)
		}
		if found {
			return delivery
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing has reached %s in 10 s", queue)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
