// Package acemq knows what a RabbitMQ topology means: the argument table that each queue must be declared with, when a
// failed message is tried again and where it waits, where a message goes, and what a change would do. Every AceMQ library
// computes the same, because all of them call the same engine.
//
//	topology := acemq.NewTopology().
//		Exchange("orders", "topic").
//		QueueWithDeadLetter("orders.new").
//		Bind("orders.new", "orders", "order.*").
//		Build()
//	tables, err := topology.Tables()
//
// The package never talks to a broker. A [PlanSession] asks numbered questions and takes the answers, so it is driven with
// the AMQP client that the program has already; [EmbeddedBroker] answers without any broker.
//
// Durations are whole milliseconds inside the engine: one that is not is refused, never rounded. Whatever the engine refuses
// is an [*Error] with a stable code and all problems at once.
//
// Handles (policies, matchers, sessions, brokers) may be used from any number of goroutines. Close frees one early and may be
// called again; one that is not closed is freed when the garbage collector finds it.
package acemq
