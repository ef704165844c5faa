package acemq_test

// The conformance cases for topologies, declarations and what brokers answer.

import (
	"encoding/json"

	acemq "github.com/acemq/acemq-core/bindings/go"
)

var topologyOperations = map[string]operation{
	"topology.check": typed(func(in withTopology) (any, error) {
		problems, err := in.topology().Problems()
		return object{"format": "acemq.check/1", "problems": append([]acemq.TopologyProblem{}, problems...)}, err
	}),
	"topology.tables": typed(func(in withTopology) (any, error) {
		tables, err := in.topology().Tables()
		return tablesDocument(tables), err
	}),
	"topology.show": typed(func(in withTopology) (any, error) {
		intent, err := in.topology().Intent()
		return object{"text": intent}, err
	}),
	"topology.consumer": typed(func(in struct {
		Queue  string
		Policy json.RawMessage
	}) (any, error) {
		var policy *acemq.RetryPolicy
		if len(in.Policy) > 0 && string(in.Policy) != "null" {
			var err error
			if policy, err = policyOf(in.Policy); err != nil {
				return nil, err
			}
			defer policy.Close()
		}
		tables, err := acemq.ConsumerDeclarations(in.Queue, policy)
		return tablesDocument(tables), err
	}),
	"declaration.fingerprint": typed(func(in struct {
		Declaration struct {
			Queue    *queueInput
			Exchange *exchangeInput
			Binding  *acemq.BindingDeclaration
		}
	}) (any, error) {
		switch declared := in.Declaration; {
		case declared.Queue != nil:
			return acemq.Fingerprint(declared.Queue.QueueDeclaration)
		case declared.Exchange != nil:
			return acemq.Fingerprint(declared.Exchange.ExchangeDeclaration)
		default:
			return acemq.Fingerprint(*declared.Binding)
		}
	}),
	"broker.equivalence": typed(func(in struct {
		acemq.BrokerVersion
		Stored, Wanted queueInput
	}) (any, error) {
		compared, err := acemq.CompareQueues(in.Stored.QueueDeclaration, in.Wanted.QueueDeclaration, in.BrokerVersion)
		differences := []any{}
		for _, d := range compared.Differences {
			shown := object{"argument": d.Argument, "wanted": nil, "current": nil, "compared": d.Compared}
			// A table writes a value with its type.
			if d.HasWanted {
				shown["wanted"] = plain(acemq.Table{"v": d.Wanted}).(object)["v"]
			}
			if d.HasCurrent {
				shown["current"] = plain(acemq.Table{"v": d.Current}).(object)["v"]
			}
			differences = append(differences, shown)
		}
		return object{"equivalent": compared.Equivalent, "differences": differences}, err
	}),
	"broker.predict": typed(func(in struct {
		acemq.BrokerVersion
		Declare struct {
			Queue    *struct{ Wanted, Existing *queueInput }
			Exchange *struct{ Wanted, Existing *exchangeInput }
		}
	}) (any, error) {
		if queue := in.Declare.Queue; queue != nil {
			var existing *acemq.QueueDeclaration
			if queue.Existing != nil {
				existing = &queue.Existing.QueueDeclaration
			}
			return acemq.PredictQueue(queue.Wanted.QueueDeclaration, existing, in.BrokerVersion)
		}
		exchange := in.Declare.Exchange
		var existing *acemq.ExchangeDeclaration
		if exchange.Existing != nil {
			existing = &exchange.Existing.ExchangeDeclaration
		}
		return acemq.PredictExchange(exchange.Wanted.ExchangeDeclaration, existing, in.BrokerVersion)
	}),
	"broker.explain": typed(func(in struct {
		Code              int
		Text, Name, Vhost string
	}) (any, error) {
		refusal, err := acemq.ReadRefusal(in.Text, acemq.RefusalContext{Code: in.Code, Name: in.Name, VHost: in.Vhost})
		if err != nil {
			return nil, err
		}
		shown := plain(refusal).(object)
		shown["format"] = "acemq.refusal/1"
		for _, key := range []string{"kind", "name", "vhost", "argument", "absent"} {
			shown[key] = orNil(shown[key].(string))
		}
		for _, side := range []string{"received", "current"} {
			if printed, ok := shown[side].(object); ok {
				printed["type"] = orNil(printed["type"].(string))
			}
		}
		return shown, nil
	}),
}

func tablesDocument(tables *acemq.Tables) any {
	if tables == nil {
		return nil
	}
	shown := plain(tables).(object)
	shown["format"] = "acemq.tables/1"
	return shown
}

type withTopology struct {
	Topology struct {
		Text     *string
		Document json.RawMessage
		Built    *struct {
			Document struct{ Queues []queueWish }
			Settings []queueWish
		}
	}
}

// queueWish is what the suites ask of a builder.
type queueWish struct {
	Name         string
	Type, Retry  string
	DeadLetter   bool   `json:"dead_letter"`
	DeadLetterTo string `json:"dead_letter_to"`
	Arguments    acemq.Table
}

func (wish queueWish) ask(builder *acemq.TopologyBuilder) {
	if wish.Type != "" {
		builder.OfType(wish.Name, wish.Type)
	}
	if wish.Retry != "" {
		builder.Retries(wish.Name, acemq.MustRetryPolicy(wish.Retry))
	}
	if wish.DeadLetter {
		builder.DeadLetters(wish.Name)
	}
	if wish.DeadLetterTo != "" {
		builder.DeadLetterTo(wish.Name, wish.DeadLetterTo)
	}
	for name, value := range wish.Arguments {
		builder.QueueArg(wish.Name, name, value)
	}
}

func (in withTopology) topology() *acemq.Topology {
	if in.Topology.Text != nil {
		return acemq.ParseTopology(*in.Topology.Text)
	}
	if built := in.Topology.Built; built != nil {
		builder := acemq.NewTopology()
		for _, wish := range built.Settings {
			wish.ask(builder)
		}
		for _, wish := range built.Document.Queues {
			wish.ask(builder.Queue(wish.Name))
		}
		return builder.Build()
	}
	return acemq.TopologyFromJSON(in.Topology.Document)
}

// Durable unless said, as documents have it.
type queueInput struct{ acemq.QueueDeclaration }

func (q *queueInput) UnmarshalJSON(data []byte) error {
	q.Durable = true
	return json.Unmarshal(data, &q.QueueDeclaration)
}

type exchangeInput struct{ acemq.ExchangeDeclaration }

func (e *exchangeInput) UnmarshalJSON(data []byte) error {
	e.Durable = true
	return json.Unmarshal(data, &e.ExchangeDeclaration)
}
