package acemq

import (
	"encoding/json"
	"maps"
)

// Topology is a set of exchanges, queues, bindings and policies that is asked for. It never changes. Nothing is judged before
// it is asked: Problems gives everything that is wrong, Tables refuses it.
type Topology struct{ source map[string]any }

// ParseTopology takes a topology document, YAML or JSON.
func ParseTopology(document string) *Topology {
	return &Topology{map[string]any{"text": document}}
}

// TopologyFromJSON takes a topology document as JSON.
func TopologyFromJSON(document json.RawMessage) *Topology {
	return &Topology{map[string]any{"document": document}}
}

// TopologyProblem is something wrong with a topology, or a warning, which does not stop it.
type TopologyProblem struct {
	Problem
	// Severity is "error" or "warning".
	Severity string `json:"severity"`
	// Object is what it is about, as in {"kind": "queue", "name": "orders"}.
	Object map[string]any `json:"object"`
	// At is where it stands in the document; nil where there is none.
	At *Position `json:"at"`
}

// Position is a place in a document, from 1.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Problems are every problem and every warning, in the order of the document.
func (t *Topology) Problems() ([]TopologyProblem, error) {
	var checked struct {
		Problems []TopologyProblem `json:"problems"`
	}
	err := Call("topology.check", map[string]any{"topology": t.source}, &checked)
	return checked.Problems, err
}

// Intent says what the topology asks for, one line for each declaration.
func (t *Topology) Intent() (string, error) {
	var shown struct {
		Text string `json:"text"`
	}
	err := Call("topology.show", map[string]any{"topology": t.source}, &shown)
	return shown.Text, err
}

// QueueTable is a queue with its canonical argument table.
type QueueTable struct {
	Name       string `json:"name"`
	Durable    bool   `json:"durable"`
	Exclusive  bool   `json:"exclusive"`
	AutoDelete bool   `json:"auto_delete"`
	// Type is "classic", "quorum" or "stream".
	Type        string `json:"type"`
	Arguments   Table  `json:"arguments"`
	Fingerprint string `json:"fingerprint"`
}

// Declaration is the queue as AMQP declares it.
func (q QueueTable) Declaration() QueueDeclaration {
	return QueueDeclaration{q.Name, q.Durable, q.Exclusive, q.AutoDelete, q.Arguments}
}

// ExchangeTable is an exchange with its canonical argument table.
type ExchangeTable struct {
	ExchangeDeclaration
	Fingerprint string
}

// UnmarshalJSON reads what the engine writes.
func (e *ExchangeTable) UnmarshalJSON(data []byte) error {
	var print struct {
		Fingerprint string `json:"fingerprint"`
	}
	if err := decode(data, &e.ExchangeDeclaration); err != nil {
		return err
	}
	err := decode(data, &print)
	e.Fingerprint = print.Fingerprint
	return err
}

// MarshalJSON writes what the engine writes.
func (e ExchangeTable) MarshalJSON() ([]byte, error) {
	type plain ExchangeDeclaration
	return json.Marshal(struct {
		plain
		Fingerprint string `json:"fingerprint"`
	}{plain(e.ExchangeDeclaration), e.Fingerprint})
}

// BindingTable is a binding with its canonical argument table. It leads to Queue or to ToExchange.
type BindingTable struct {
	Exchange    string `json:"exchange"`
	Queue       string `json:"queue,omitempty"`
	ToExchange  string `json:"to_exchange,omitempty"`
	RoutingKey  string `json:"routing_key"`
	Arguments   Table  `json:"arguments"`
	Fingerprint string `json:"fingerprint"`
}

// Declaration is the binding as AMQP makes it.
func (b BindingTable) Declaration() BindingDeclaration {
	if b.ToExchange != "" {
		return BindingDeclaration{b.Exchange, b.ToExchange, "exchange", b.RoutingKey, b.Arguments}
	}
	return BindingDeclaration{b.Exchange, b.Queue, "queue", b.RoutingKey, b.Arguments}
}

// Tables is everything that is declared, each kind in the order in which it is declared: exchanges, policies, queues, bindings.
type Tables struct {
	Exchanges []ExchangeTable     `json:"exchanges"`
	Policies  []PolicyDeclaration `json:"policies,omitempty"`
	Queues    []QueueTable        `json:"queues"`
	Bindings  []BindingTable      `json:"bindings"`
	// Fingerprint is the same for two topologies that ask for the same objects, whatever their order.
	Fingerprint string `json:"fingerprint"`
}

// Queue is the queue of that name, nil when none is declared.
func (t *Tables) Queue(name string) *QueueTable {
	for i := range t.Queues {
		if t.Queues[i].Name == name {
			return &t.Queues[i]
		}
	}
	return nil
}

// Tables are the canonical argument tables, as they go over the wire. The error holds every problem that stops them.
func (t *Topology) Tables() (*Tables, error) {
	tables := &Tables{}
	if err := Call("topology.tables", map[string]any{"topology": t.source}, tables); err != nil {
		return nil, err
	}
	return tables, nil
}

// ConsumerDeclarations is what a consumer of a queue declares when it starts: the dead-letter half, the rungs of its policy
// (nil for none), and never the queue itself.
func ConsumerDeclarations(queue string, policy *RetryPolicy) (*Tables, error) {
	input := map[string]any{"queue": queue}
	if policy != nil {
		input["policy"] = policy.String()
	}
	tables := &Tables{}
	if err := Call("topology.consumer", input, tables); err != nil {
		return nil, err
	}
	return tables, nil
}

// TopologyBuilder collects what a service needs. No call fails and the order of the calls does not matter: [Topology.Problems]
// judges everything at once.
type TopologyBuilder struct {
	exchanges, queues, bindings, policies, settings []map[string]any
}

// NewTopology starts an empty topology.
func NewTopology() *TopologyBuilder { return &TopologyBuilder{} }

// Build is the topology so far; the builder may be used further.
func (b *TopologyBuilder) Build() *Topology {
	document := map[string]any{"acemq": 1}
	for section, entries := range map[string][]map[string]any{
		"exchanges": b.exchanges, "queues": b.queues, "bindings": b.bindings, "policies": b.policies,
	} {
		if len(entries) > 0 {
			document[section] = clones(entries)
		}
	}
	return &Topology{map[string]any{"built": map[string]any{"document": document, "settings": clones(b.settings)}}}
}

func clones(entries []map[string]any) []map[string]any {
	copied := make([]map[string]any, 0, len(entries))
	for _, entry := range entries {
		copied = append(copied, maps.Clone(entry))
	}
	return copied
}

// Exchange is a durable exchange of that type.
func (b *TopologyBuilder) Exchange(name, kind string) *TopologyBuilder {
	b.exchanges = append(b.exchanges, map[string]any{"name": name, "type": kind})
	return b
}

// ExchangeDeclaration is an exchange with every property given.
func (b *TopologyBuilder) ExchangeDeclaration(exchange ExchangeDeclaration) *TopologyBuilder {
	b.exchanges = append(b.exchanges, map[string]any{
		"name": exchange.Name, "type": exchange.Type, "durable": exchange.Durable, "auto_delete": exchange.AutoDelete,
		"internal": exchange.Internal, "arguments": Table(maps.Clone(exchange.Arguments)),
	})
	return b
}

// ExternalExchange is one that somebody else declares: bindings may use it, and it is never declared.
func (b *TopologyBuilder) ExternalExchange(name string) *TopologyBuilder {
	b.exchanges = append(b.exchanges, map[string]any{"name": name, "external": true})
	return b
}

// Queue is a durable queue: quorum, unless something else is asked for.
func (b *TopologyBuilder) Queue(name string) *TopologyBuilder {
	b.queues = append(b.queues, map[string]any{"name": name})
	return b
}

// QueueDeclaration is a queue with every property given. Without an x-queue-type the defaults of Queue hold.
func (b *TopologyBuilder) QueueDeclaration(queue QueueDeclaration) *TopologyBuilder {
	b.queues = append(b.queues, map[string]any{
		"name": queue.Name, "durable": queue.Durable, "exclusive": queue.Exclusive, "auto_delete": queue.AutoDelete,
		"arguments": Table(maps.Clone(queue.Arguments)),
	})
	return b
}

// QueueWithDeadLetter is a durable quorum queue with its dead-letter queue, its parked queue and their wiring.
func (b *TopologyBuilder) QueueWithDeadLetter(name string) *TopologyBuilder {
	b.queues = append(b.queues, map[string]any{"name": name, "dead_letter": true})
	return b
}

// ClassicQueueWithDeadLetter is a durable classic queue with arguments of its own, and with its dead letters.
func (b *TopologyBuilder) ClassicQueueWithDeadLetter(name string, arguments Table) *TopologyBuilder {
	b.queues = append(b.queues, map[string]any{
		"name": name, "type": "classic", "dead_letter": true, "arguments": Table(maps.Clone(arguments)),
	})
	return b
}

func (b *TopologyBuilder) setting(queue, key string, value any) *TopologyBuilder {
	b.settings = append(b.settings, map[string]any{"name": queue, key: value})
	return b
}

// DeadLetters gives a queue that is declared in this topology its dead letters.
func (b *TopologyBuilder) DeadLetters(queue string) *TopologyBuilder {
	return b.setting(queue, "dead_letter", true)
}

// DeadLetterTo sends the dead letters of a queue to an exchange of the caller's own.
func (b *TopologyBuilder) DeadLetterTo(queue, exchange string) *TopologyBuilder {
	return b.setting(queue, "dead_letter_to", exchange)
}

// OfType chooses the type of a queue: "classic", "quorum" or "stream".
func (b *TopologyBuilder) OfType(queue, kind string) *TopologyBuilder {
	return b.setting(queue, "type", kind)
}

// QueueArg adds one argument to a queue.
func (b *TopologyBuilder) QueueArg(queue, argument string, value any) *TopologyBuilder {
	return b.setting(queue, "arguments", Table{argument: value})
}

// Transient makes a queue one that is gone when the broker restarts.
func (b *TopologyBuilder) Transient(queue string) *TopologyBuilder {
	return b.setting(queue, "transient", true)
}

// Exclusive makes a queue belong to the connection that declares it.
func (b *TopologyBuilder) Exclusive(queue string) *TopologyBuilder {
	return b.setting(queue, "exclusive", true)
}

// AutoDelete lets a queue go with its last consumer.
func (b *TopologyBuilder) AutoDelete(queue string) *TopologyBuilder {
	return b.setting(queue, "auto_delete", true)
}

// Retries gives a queue the rungs of a policy, so that long waits between attempts are spent in the broker.
func (b *TopologyBuilder) Retries(queue string, policy *RetryPolicy) *TopologyBuilder {
	return b.setting(queue, "retry", policy.String())
}

// Bind binds a queue to an exchange.
func (b *TopologyBuilder) Bind(queue, exchange, routingKey string) *TopologyBuilder {
	b.bindings = append(b.bindings, map[string]any{"queue": queue, "exchange": exchange, "routing_key": routingKey})
	return b
}

// BindExchange binds an exchange to another one.
func (b *TopologyBuilder) BindExchange(toExchange, exchange, routingKey string) *TopologyBuilder {
	b.bindings = append(b.bindings, map[string]any{
		"to_exchange": toExchange, "exchange": exchange, "routing_key": routingKey,
	})
	return b
}

// Binding is one with every property given.
func (b *TopologyBuilder) Binding(binding BindingDeclaration) *TopologyBuilder {
	to := "queue"
	if binding.DestinationType == "exchange" {
		to = "to_exchange"
	}
	b.bindings = append(b.bindings, map[string]any{
		to: binding.Destination, "exchange": binding.Source, "routing_key": binding.RoutingKey,
		"arguments": Table(maps.Clone(binding.Arguments)),
	})
	return b
}

// Policy is a policy, which only the management API can set.
func (b *TopologyBuilder) Policy(policy PolicyDeclaration) *TopologyBuilder {
	entry := map[string]any{
		"name": policy.Name, "pattern": policy.Pattern, "priority": policy.Priority,
		"definition": Table(maps.Clone(policy.Definition)),
	}
	setIf(entry, "apply_to", policy.ApplyTo)
	b.policies = append(b.policies, entry)
	return b
}
