package acemq_test

// The conformance cases for a whole vhost: routing, definitions, policies, migrations.

import (
	"encoding/json"
	"errors"
	"time"

	acemq "github.com/acemq/acemq-core/bindings/go"
)

var vhostOperations = map[string]operation{
	"embedded.run": runEmbedded,
	"embedded.simulate": typed(func(in struct {
		Scenario struct{ Text *string }
		RabbitMQ string
		State    json.RawMessage
	}) (any, error) {
		if in.Scenario.Text == nil || in.State != nil {
			panic(unheld{errors.New("a scenario is a text")})
		}
		simulation, err := acemq.Simulate(*in.Scenario.Text, in.RabbitMQ)
		if err != nil {
			return nil, err
		}
		return simulation.Document, nil
	}),
	"routing.route": typed(func(in struct {
		State   stateInput
		Message struct {
			acemq.RoutedMessage
			Explain *bool
		}
	}) (any, error) {
		router, err := acemq.NewRouter(in.State.source())
		if err != nil {
			return nil, err
		}
		defer router.Close()
		route := router.Explain
		if in.Message.Explain != nil && !*in.Message.Explain {
			route = router.Route
		}
		routed, err := route(in.Message.RoutedMessage)
		if err != nil {
			return nil, err
		}
		return routed.Document, nil
	}),
	"definitions.state": typed(func(in struct{ State stateInput }) (any, error) {
		return acemq.ReadState(in.State.source())
	}),
	"definitions.preview": typed(func(in struct {
		Definitions definitionsInput
		There       []stateInput
		RabbitMQ    string
	}) (any, error) {
		there := []acemq.Source{}
		for _, vhost := range in.There {
			there = append(there, vhost.source())
		}
		effects, err := acemq.PreviewImport(in.Definitions.text(), there, in.RabbitMQ)
		return object{"effects": append([]acemq.ImportEffect{}, effects...)}, err
	}),
	"policy.effective": typed(func(in struct {
		State stateInput
		Kind  acemq.NameKind
		Name  string
	}) (any, error) {
		settings, err := acemq.EffectiveSettings(in.State.source(), in.Kind, in.Name)
		return object{"settings": settings}, err
	}),
	"plan.session": runSession,
	"migration.plan": typed(func(in migrationInput) (any, error) {
		plan, err := acemq.PlanMigration(in.File, in.State.source())
		if in.Direction == acemq.Back {
			plan, err = acemq.PlanUndo(in.File, in.State.source(), acemq.Beginning(in.Beginning))
		}
		if err != nil {
			return nil, err
		}
		return object{"plan": plan.Document, "text": plan.Text, "checksum": plan.Checksum, "refused": orNil(plan.Refused)}, nil
	}),
	"migration.step": typed(func(in struct {
		migrationInput
		Run   json.RawMessage
		NowMS int64 `json:"now_ms"`
		Saw   json.RawMessage
	}) (any, error) {
		migration := acemq.Migration{
			File: in.File, Direction: in.Direction, Beginning: acemq.Beginning(in.Beginning), Run: in.Run,
		}
		order, err := migration.Next(in.State.source(), time.Duration(in.NowMS)*time.Millisecond, saw(in.Saw))
		if err != nil {
			return nil, err
		}
		return order.Document, nil
	}),
}

// stateInput is what a vhost holds.
type stateInput struct {
	acemq.BrokerVersion
	Topology    json.RawMessage
	Definitions *definitionsInput
}

// definitionsInput is an export, in one of two forms.
type definitionsInput struct {
	Text     *string
	Document json.RawMessage
}

func (in definitionsInput) text() string {
	if in.Text != nil {
		return *in.Text
	}
	return string(in.Document)
}

func (in stateInput) source() acemq.Source {
	switch {
	case (in.Topology == nil) == (in.Definitions == nil):
		panic(unheld{errors.New("a source is one of the two")})
	case in.Definitions == nil:
		var topology withTopology
		decodeInput(in.Topology, &topology.Topology)
		return acemq.FromTopology(topology.topology(), in.BrokerVersion)
	}
	return acemq.FromDefinitions(in.Definitions.text(), in.BrokerVersion)
}

type migrationInput struct {
	File      string
	State     stateInput
	Direction acemq.Direction
	Beginning json.RawMessage
}

// saw is what a case says that was seen.
func saw(given json.RawMessage) *acemq.Saw {
	var seen acemq.Saw
	switch {
	case len(given) == 0:
		return nil
	case string(given) == `"nodes_know"`:
		seen = acemq.NodesKnow()
	default:
		var in struct{ Queues []acemq.QueueSight }
		decodeInput(given, &in)
		seen = acemq.SawQueues(in.Queues...)
	}
	return &seen
}
