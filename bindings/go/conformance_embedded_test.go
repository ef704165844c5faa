package acemq_test

// The conformance cases for the embedded broker.

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	acemq "github.com/acemq/acemq-core/bindings/go"
)

// runEmbedded plays a list of commands through the typed methods.
func runEmbedded(input json.RawMessage) (any, error) {
	var in struct {
		Broker struct {
			acemq.BrokerVersion
			Permissions []acemq.Permissions
		}
		Commands []map[string]json.RawMessage
	}
	decodeInput(input, &in)
	broker, err := acemq.NewEmbeddedBroker(acemq.EmbeddedOptions{
		BrokerVersion: in.Broker.BrokerVersion, Permissions: in.Broker.Permissions,
	})
	if err != nil {
		return nil, err
	}
	defer broker.Close()
	play := player{broker, map[string]*acemq.EmbeddedConnection{}, map[string]*acemq.EmbeddedChannel{}}
	replies := []any{}
	for _, command := range in.Commands {
		reply, err := play.command(command)
		var refused *acemq.Refused
		if errors.As(err, &refused) {
			reply = object{"refused": refused}
		} else if err != nil {
			return nil, err
		}
		if reply == nil {
			reply = object{}
		}
		replies = append(replies, reply)
	}
	return object{"replies": replies}, nil
}

type player struct {
	broker      *acemq.EmbeddedBroker
	connections map[string]*acemq.EmbeddedConnection
	channels    map[string]*acemq.EmbeddedChannel
}

// requester is what connections and channels have in common.
type requester interface {
	IsOpen() (bool, error)
	DeclareQueue(acemq.QueueDeclaration) (acemq.QueueStatus, error)
	DeclareQueuePassively(string) (acemq.QueueStatus, error)
	DeclareExchange(acemq.ExchangeDeclaration) error
	DeclareExchangePassively(string) error
	Bind(acemq.BindingDeclaration) error
	Unbind(acemq.BindingDeclaration) error
	DeleteQueue(string, bool, bool) (int, error)
	DeleteExchange(string, bool) error
	Purge(string) (int, error)
	Publish(acemq.Publication) (acemq.Published, error)
}

func (p player) command(command map[string]json.RawMessage) (any, error) {
	connection := p.connections[string(command["connection"])]
	channel := p.channels[string(command["channel"])]
	var who requester = connection
	if channel != nil {
		who = channel
	}
	for action, body := range command {
		if action == "connection" || action == "channel" {
			continue
		}
		var form struct {
			Name, Queue, User         string
			ConsumerTag               string `json:"consumer_tag"`
			DeliveryTag               uint64 `json:"delivery_tag"`
			IfUnused                  bool   `json:"if_unused"`
			IfEmpty                   bool   `json:"if_empty"`
			NoAck                     bool   `json:"no_ack"`
			Multiple, Requeue, Global bool
			Prefetch                  uint16
			MS                        int64
		}
		_ = json.Unmarshal(body, &form)
		switch action {
		case "connect":
			connect := p.broker.Connect
			if form.User != "" {
				connect = func() (*acemq.EmbeddedConnection, error) { return p.broker.ConnectAs(form.User) }
			}
			connected, err := connect()
			if err != nil {
				return nil, err
			}
			p.connections[fmt.Sprint(connected.Number())] = connected
			return object{"connection": connected.Number()}, nil
		case "disconnect":
			return nil, connection.Close()
		case "open_channel":
			opened, err := connection.OpenChannel()
			if err != nil {
				return nil, err
			}
			p.channels[fmt.Sprint(opened.Number())] = opened
			return object{"channel": opened.Number()}, nil
		case "close_channel":
			return nil, channel.Close()
		case "is_open":
			open, err := who.IsOpen()
			return object{"open": open}, err
		case "declare_queue":
			var queue queueInput
			decodeInput(body, &queue)
			return who.DeclareQueue(queue.QueueDeclaration)
		case "declare_queue_passively":
			return who.DeclareQueuePassively(form.Name)
		case "declare_exchange":
			var exchange exchangeInput
			decodeInput(body, &exchange)
			return nil, who.DeclareExchange(exchange.ExchangeDeclaration)
		case "declare_exchange_passively":
			return nil, who.DeclareExchangePassively(form.Name)
		case "bind", "unbind":
			var binding acemq.BindingDeclaration
			decodeInput(body, &binding)
			if action == "bind" {
				return nil, who.Bind(binding)
			}
			return nil, who.Unbind(binding)
		case "delete_queue":
			return gone(who.DeleteQueue(form.Name, form.IfUnused, form.IfEmpty))
		case "purge":
			return gone(who.Purge(form.Queue))
		case "delete_exchange":
			return nil, who.DeleteExchange(form.Name, form.IfUnused)
		case "publish":
			var publication acemq.Publication
			decodeInput(body, &publication)
			return who.Publish(publication)
		case "get":
			delivery, err := channel.Get(form.Queue, form.NoAck)
			return object{"delivery": shownDelivery(delivery)}, err
		case "consume":
			var subscription acemq.Subscription
			decodeInput(body, &subscription)
			tag, err := channel.Consume(subscription)
			return object{"consumer_tag": tag}, err
		case "cancel":
			return nil, channel.Cancel(form.ConsumerTag)
		case "qos":
			return nil, channel.Qos(form.Prefetch, form.Global)
		case "ack":
			return nil, channel.Ack(form.DeliveryTag, form.Multiple)
		case "nack":
			return nil, channel.Nack(form.DeliveryTag, form.Multiple, form.Requeue)
		case "reject":
			return nil, channel.Reject(form.DeliveryTag, form.Requeue)
		case "recover":
			return nil, channel.Recover()
		case "take_events":
			events, err := channel.Events()
			shown := []any{}
			for _, event := range events {
				if event.Delivered != nil {
					shown = append(shown, object{"delivered": shownDelivery(event.Delivered)})
				} else {
					shown = append(shown, object{"cancelled": event.Cancelled})
				}
			}
			return object{"events": shown}, err
		case "advance":
			now, err := p.broker.Advance(time.Duration(form.MS) * time.Millisecond)
			return object{"now_ms": now.UnixMilli()}, err
		case "contents":
			contents, err := p.broker.Contents(form.Queue)
			return object{"contents": contents}, err
		case "set_policy", "set_operator_policy":
			var policy struct {
				acemq.PolicyDeclaration
				ApplyTo string `json:"apply_to"`
			}
			decodeInput(body, &policy)
			policy.PolicyDeclaration.ApplyTo = policy.ApplyTo
			if action == "set_policy" {
				return nil, p.broker.SetPolicy(policy.PolicyDeclaration)
			}
			return nil, p.broker.SetOperatorPolicy(policy.PolicyDeclaration)
		case "clear_policy":
			cleared, err := p.broker.ClearPolicy(form.Name)
			return object{"cleared": cleared}, err
		case "clear_operator_policy":
			cleared, err := p.broker.ClearOperatorPolicy(form.Name)
			return object{"cleared": cleared}, err
		}
		return nil, fmt.Errorf("this runner does not know the command %s", action)
	}
	return nil, errors.New("a command without an action")
}

func gone(messages int, err error) (any, error) { return object{"messages": messages}, err }

func shownDelivery(delivery *acemq.Delivery) any {
	if delivery == nil {
		return nil
	}
	shown := plain(delivery).(object)
	shown["consumer_tag"] = orNil(delivery.ConsumerTag)
	return shown
}
