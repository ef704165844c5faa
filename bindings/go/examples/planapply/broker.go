package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	acemq "github.com/acemq/acemq-core/bindings/go"
	amqp "github.com/rabbitmq/amqp091-go"
)

// Broker answers the questions of a plan session over a connection that the program has anyway.
type Broker struct {
	Connection *amqp.Connection
	// Timeout bounds one question.
	Timeout time.Duration
}

// Product and Version are those that the broker tells about itself.
func (b Broker) Product() string { return b.property("product") }

// Version is the broker's.
func (b Broker) Version() string { return b.property("version") }

func (b Broker) property(name string) string {
	value, _ := b.Connection.Properties[name].(string)
	return value
}

// Ask asks one question, on a channel of its own: a refusal closes the channel.
func (b Broker) Ask(ctx context.Context, question acemq.Question) acemq.Answer {
	ctx, cancel := context.WithTimeout(ctx, b.Timeout)
	defer cancel()
	answered := make(chan acemq.Answer, 1)
	go func() { answered <- b.ask(question) }()
	select {
	case answer := <-answered:
		return answer
	case <-ctx.Done():
		return acemq.Failed("timeout: " + context.Cause(ctx).Error())
	}
}

func (b Broker) ask(question acemq.Question) acemq.Answer {
	if question.Policy != nil {
		return acemq.Cannot("policies are set through the management API")
	}
	channel, err := b.Connection.Channel()
	if err != nil {
		return answerOf(0, 0, err)
	}
	defer channel.Close()
	switch {
	case question.Ask == acemq.AskQueuePassive:
		queue, err := channel.QueueDeclarePassive(question.Name, true, false, false, false, nil)
		return answerOf(queue.Messages, queue.Consumers, err)
	case question.Ask == acemq.AskExchangePassive:
		// The type is not looked at.
		return answerOf(0, 0, channel.ExchangeDeclarePassive(question.Name, "direct", true, false, false, false, nil))
	case question.Queue != nil:
		q := question.Queue
		queue, err := channel.QueueDeclare(q.Name, q.Durable, q.AutoDelete, q.Exclusive, false, arguments(q.Arguments))
		return answerOf(queue.Messages, queue.Consumers, err)
	case question.Exchange != nil:
		e := question.Exchange
		err := channel.ExchangeDeclare(e.Name, e.Type, e.Durable, e.AutoDelete, e.Internal, false, arguments(e.Arguments))
		return answerOf(0, 0, err)
	case question.Binding != nil:
		bind := channel.QueueBind
		if question.Binding.DestinationType == "exchange" {
			bind = channel.ExchangeBind
		}
		k := question.Binding
		return answerOf(0, 0, bind(k.Destination, k.RoutingKey, k.Source, false, arguments(k.Arguments)))
	}
	return acemq.Cannot(fmt.Sprintf("%s is not known here", question.Ask))
}

func answerOf(messages, consumers int, err error) acemq.Answer {
	var closed *amqp.Error
	switch {
	case err == nil:
		return acemq.Accepted(messages, consumers)
	case errors.As(err, &closed) && closed.Server:
		return acemq.RefusedBy(acemq.Refused{Code: closed.Code, Text: closed.Reason, Scope: scope(closed.Code)})
	default:
		return acemq.Failed(err.Error())
	}
}

// scope is what such a code closes by AMQP's definition: errors of the connection have their own codes.
func scope(code int) string {
	switch code {
	case amqp.ContentTooLarge, amqp.NoRoute, amqp.NoConsumers, amqp.AccessRefused, amqp.NotFound, amqp.ResourceLocked,
		amqp.PreconditionFailed:
		return "channel"
	}
	return "connection"
}

// arguments is a table with the types of the client.
func arguments(table acemq.Table) amqp.Table {
	converted := amqp.Table{}
	for name, value := range table {
		converted[name] = argument(value)
	}
	return converted
}

func argument(value any) any {
	switch v := value.(type) {
	case acemq.Table:
		return arguments(v)
	case acemq.Decimal:
		return amqp.Decimal{Scale: v.Scale, Value: int32(v.Unscaled)}
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = argument(item)
		}
		return items
	default:
		return v
	}
}
