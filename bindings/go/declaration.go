package acemq

import "encoding/json"

// QueueDeclaration is a queue as AMQP declares it.
type QueueDeclaration struct {
	Name       string `json:"name"`
	Durable    bool   `json:"durable"`
	Exclusive  bool   `json:"exclusive"`
	AutoDelete bool   `json:"auto_delete"`
	Arguments  Table  `json:"arguments"`
}

// ExchangeDeclaration is an exchange as AMQP declares it.
type ExchangeDeclaration struct {
	Name       string `json:"name"`
	Type       string `json:"type"`
	Durable    bool   `json:"durable"`
	AutoDelete bool   `json:"auto_delete"`
	Internal   bool   `json:"internal"`
	Arguments  Table  `json:"arguments"`
}

// BindingDeclaration is a binding from an exchange to a queue, or to another exchange.
type BindingDeclaration struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
	// DestinationType is "queue", which is also what "" means, or "exchange".
	DestinationType string `json:"destination_type"`
	RoutingKey      string `json:"routing_key"`
	Arguments       Table  `json:"arguments"`
}

// PolicyDeclaration is a policy, which only the management API sets.
type PolicyDeclaration struct {
	Name       string `json:"name"`
	Pattern    string `json:"pattern"`
	ApplyTo    string `json:"apply_to"`
	Priority   int64  `json:"priority"`
	Definition Table  `json:"definition"`
}

// MarshalJSON writes the declaration as the engine reads it.
func (b BindingDeclaration) MarshalJSON() ([]byte, error) {
	type plain BindingDeclaration
	if b.DestinationType == "" {
		b.DestinationType = "queue"
	}
	if b.Arguments == nil {
		b.Arguments = Table{}
	}
	return json.Marshal(plain(b))
}

// MarshalJSON writes the declaration as the engine reads it.
func (q QueueDeclaration) MarshalJSON() ([]byte, error) {
	type plain QueueDeclaration
	if q.Arguments == nil {
		q.Arguments = Table{}
	}
	return json.Marshal(plain(q))
}

// MarshalJSON writes the declaration as the engine reads it.
func (e ExchangeDeclaration) MarshalJSON() ([]byte, error) {
	type plain ExchangeDeclaration
	if e.Arguments == nil {
		e.Arguments = Table{}
	}
	return json.Marshal(plain(e))
}

// Declaration is a [QueueDeclaration], an [ExchangeDeclaration] or a [BindingDeclaration].
type Declaration interface{ kind() string }

func (QueueDeclaration) kind() string    { return "queue" }
func (ExchangeDeclaration) kind() string { return "exchange" }
func (BindingDeclaration) kind() string  { return "binding" }

// Identity is what two declarations share exactly when every broker takes them as the same.
type Identity struct {
	// Canonical is one line of JSON.
	Canonical string `json:"canonical"`
	// Fingerprint is its SHA-256 in lower-case hexadecimal.
	Fingerprint string `json:"fingerprint"`
}

// Fingerprint is the identity of a declaration.
func Fingerprint(declaration Declaration) (Identity, error) {
	var identity Identity
	input := map[string]any{"declaration": map[string]any{declaration.kind(): declaration}}
	err := Call("declaration.fingerprint", input, &identity)
	return identity, err
}

// BrokerVersion says which broker judges: the zero value is the newest known RabbitMQ with the vhost "/" and no default queue
// type.
type BrokerVersion struct {
	// RabbitMQ is "4.0.5", or "4.3" for its newest known patch.
	RabbitMQ string `json:"rabbitmq,omitempty"`
	// VHost is the vhost's name.
	VHost string `json:"vhost,omitempty"`
	// DefaultQueueType is the vhost's default queue type.
	DefaultQueueType string `json:"default_queue_type,omitempty"`
}

// Equivalence says whether a declaration is equivalent to a queue.
type Equivalence struct {
	// Equivalent: the broker takes the declaration.
	Equivalent bool `json:"equivalent"`
	// Differences are all of them, those that the broker compares first and in its order.
	Differences []QueueDifference `json:"differences"`
}

// QueueDifference is one thing in which a declaration and a queue differ.
type QueueDifference struct {
	// Argument is the argument or property.
	Argument string
	// Wanted and Current are what declaration and queue have; absent ones are nil and not in Has….
	Wanted, Current       any
	HasWanted, HasCurrent bool
	// Compared: the broker compares it.
	Compared bool
}

type optionalValue struct {
	value any
	found bool
}

func (o *optionalValue) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var plain any
	if err := decode(data, &plain); err != nil {
		return err
	}
	var err error
	o.value, err = readValue(plain)
	o.found = true
	return err
}

// UnmarshalJSON reads what the engine writes.
func (d *QueueDifference) UnmarshalJSON(data []byte) error {
	var plain struct {
		Argument string        `json:"argument"`
		Wanted   optionalValue `json:"wanted"`
		Current  optionalValue `json:"current"`
		Compared bool          `json:"compared"`
	}
	err := decode(data, &plain)
	*d = QueueDifference{plain.Argument, plain.Wanted.value, plain.Current.value, plain.Wanted.found, plain.Current.found,
		plain.Compared}
	return err
}

// CompareQueues says whether a broker takes a declaration as equal to a queue that it has, and every difference.
func CompareQueues(stored, wanted QueueDeclaration, broker BrokerVersion) (Equivalence, error) {
	var equivalence Equivalence
	input := map[string]any{"stored": stored, "wanted": wanted}
	// Queues are compared alike in every vhost.
	setIf(input, "rabbitmq", broker.RabbitMQ)
	setIf(input, "default_queue_type", broker.DefaultQueueType)
	err := Call("broker.equivalence", input, &equivalence)
	return equivalence, err
}

func setIf(input map[string]any, key, value string) {
	if value != "" {
		input[key] = value
	}
}

// Prediction is what a broker answers to a declaration.
type Prediction struct {
	Accepted bool `json:"accepted"`
	// Refused is nil when it accepts.
	Refused *Refused `json:"refused"`
}

// Refused is a broker's refusal in its own words.
type Refused struct {
	// Code is the reply code, such as 406.
	Code int `json:"code"`
	// Text is the reply text, such as "PRECONDITION_FAILED - …".
	Text string `json:"text"`
	// Scope is what the refusal closes: "channel" or "connection".
	Scope string `json:"scope"`
}

// Error is the reply text.
func (r *Refused) Error() string { return r.Text }

// PredictQueue says what a broker answers to a declaration, where existing is the queue of that name, or nil. An exclusive
// queue belongs to another connection.
func PredictQueue(wanted QueueDeclaration, existing *QueueDeclaration, broker BrokerVersion) (Prediction, error) {
	declare := map[string]any{"wanted": wanted}
	if existing != nil {
		declare["existing"] = *existing
	}
	return predict(map[string]any{"queue": declare}, broker)
}

// PredictExchange says what a broker answers to a declaration, where existing is the exchange of that name, or nil.
func PredictExchange(wanted ExchangeDeclaration, existing *ExchangeDeclaration, broker BrokerVersion) (Prediction, error) {
	declare := map[string]any{"wanted": wanted}
	if existing != nil {
		declare["existing"] = *existing
	}
	return predict(map[string]any{"exchange": declare}, broker)
}

func predict(declare map[string]any, broker BrokerVersion) (Prediction, error) {
	var prediction Prediction
	input := map[string]any{"declare": declare}
	setIf(input, "rabbitmq", broker.RabbitMQ)
	setIf(input, "vhost", broker.VHost)
	setIf(input, "default_queue_type", broker.DefaultQueueType)
	err := Call("broker.predict", input, &prediction)
	return prediction, err
}

// Refusal is a broker's refusal, read: the difference that it proves.
type Refusal struct {
	// Class is inequivalent, invalid, not_found, unavailable, locked, access_refused, in_use, not_empty, not_implemented or
	// other.
	Class string `json:"class"`
	// Kind is queue, exchange, binding, vhost or connection, or "".
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	VHost    string `json:"vhost"`
	Argument string `json:"argument"`
	// Received and Current are the values as the broker printed them; nil where it printed none.
	Received *PrintedValue `json:"received"`
	Current  *PrintedValue `json:"current"`
	// Absent is the side that the broker says has no value: "received", "current" or "".
	Absent string `json:"absent"`
	// Truncated: AMQP cut the text at 255 bytes.
	Truncated bool `json:"truncated"`
	// Says is one sentence.
	Says string `json:"says"`
}

// PrintedValue is a value as a broker printed it.
type PrintedValue struct {
	Value string `json:"value"`
	// Type is AMQP's, where the broker printed it.
	Type string `json:"type"`
}

// RefusalContext is what a client knows beside a refusal's text; everything may be left out.
type RefusalContext struct {
	Code        int
	Name, VHost string
}

// ReadRefusal reads a refusal as clients, logs and the management API show it.
func ReadRefusal(refusal string, known RefusalContext) (*Refusal, error) {
	input := map[string]any{"text": refusal}
	if known.Code != 0 {
		input["code"] = known.Code
	}
	setIf(input, "name", known.Name)
	setIf(input, "vhost", known.VHost)
	read := &Refusal{}
	return read, Call("broker.explain", input, read)
}
