// Planapply shows what a topology would change on a RabbitMQ, makes the change when it is told to, and shows that nothing is
// left to do. Everything that is asked of the broker goes through amqp091-go.
//
//	go run ./planapply -broker amqp://guest:guest@localhost:5672/ [-apply] topology.yaml
//
// Exit 0 when nothing is left to do, 1 on an error, 2 when something is missing, 3 when something differs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	acemq "github.com/acemq/acemq-core/bindings/go"
	amqp "github.com/rabbitmq/amqp091-go"
)

func main() {
	url := flag.String("broker", os.Getenv("ACEMQ_BROKER"), "the broker, amqp://USER:PASSWORD@HOST:PORT/VHOST")
	apply := flag.Bool("apply", false, "declare what is missing")
	flag.Parse()
	if flag.NArg() != 1 || *url == "" {
		fmt.Fprintln(os.Stderr, "usage: planapply -broker URL [-apply] TOPOLOGY")
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	plan, err := run(ctx, *url, flag.Arg(0), *apply)
	if plan != nil {
		fmt.Print(plan)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(exit(plan))
}

func exit(plan *acemq.Plan) int {
	switch {
	case plan.Summary.Drift+plan.Summary.Invalid > 0:
		return 3
	case plan.Summary.Create > 0:
		return 2
	}
	return 0
}

func run(ctx context.Context, url, file string, apply bool) (*acemq.Plan, error) {
	document, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	connection, err := amqp.Dial(url)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	broker := Broker{connection, 10 * time.Second}
	topology := acemq.ParseTopology(string(document))
	options := acemq.SessionOptions{
		Product: broker.Product(), Version: broker.Version(), VHost: connection.Config.Vhost, Exchanges: true, Apply: apply,
	}
	plan, err := Drive(ctx, broker, topology, options)
	if err != nil || plan.Err != nil || !apply {
		return plan, err
	}
	// What an apply says is what it found; ask again to see what it left.
	options.Apply = false
	return Drive(ctx, broker, topology, options)
}

// Drive runs a session to its end.
func Drive(ctx context.Context, broker Broker, topology *acemq.Topology, options acemq.SessionOptions) (*acemq.Plan, error) {
	session, err := acemq.NewPlanSession(topology, options)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	return session.Run(ctx, broker.Ask)
}
