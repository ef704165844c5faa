package acemq

// #include <acemq.h>
import "C"

import (
	"encoding/base64"
	"encoding/json"
	"time"
	"unicode/utf8"
)

// EmbeddedOptions say what an embedded broker is made of; the zero value is an empty broker of the newest known version.
type EmbeddedOptions struct {
	BrokerVersion
	// Topology is declared at the start.
	Topology *Topology
	// Definitions, a broker's export, are held from the start, whatever the rules say about them.
	Definitions string
	// User is that of connections that name none; "guest" unless said.
	User string
	// Permissions say what users may do; one without an entry may do everything.
	Permissions []Permissions
	// DenyTransientQueues denies queues that are transient and not exclusive (3.13 and later).
	DenyTransientQueues bool
	// MaxQueues is how many queues the vhost may hold, 0 for any number.
	MaxQueues int
	// Start is where the virtual clock starts; the zero time means 1970.
	Start time.Time
	// History keeps what happens to messages.
	History bool
}

// Permissions are what a user may do: regular expressions on names, where the empty one allows nothing.
type Permissions struct {
	User      string `json:"user"`
	Configure string `json:"configure"`
	Write     string `json:"write"`
	Read      string `json:"read"`
}

// EmbeddedBroker is a broker in memory that answers as RabbitMQ of a version does, with a clock that moves when it is told to.
// What the broker refuses is a [*Refused].
type EmbeddedBroker struct{ handle *handle[*C.AcemqBroker] }

// NewEmbeddedBroker makes a broker.
func NewEmbeddedBroker(options EmbeddedOptions) (*EmbeddedBroker, error) {
	settings := map[string]any{
		"deny_transient_queues": options.DenyTransientQueues, "history": options.History,
	}
	setIf(settings, "rabbitmq", options.RabbitMQ)
	setIf(settings, "vhost", options.VHost)
	setIf(settings, "default_queue_type", options.DefaultQueueType)
	setIf(settings, "user", options.User)
	if options.Topology != nil {
		settings["topology"] = options.Topology.source
	}
	if options.Definitions != "" {
		settings["definitions"] = map[string]any{"text": options.Definitions}
	}
	if options.Permissions != nil {
		settings["permissions"] = options.Permissions
	}
	if options.MaxQueues > 0 {
		settings["max_queues"] = options.MaxQueues
	}
	if !options.Start.IsZero() {
		settings["start_ms"] = options.Start.UnixMilli()
	}
	encoded, err := encode(settings)
	if err != nil {
		return nil, err
	}
	var native *C.AcemqBroker
	var failure *C.AcemqError
	ptr, length := text(string(encoded))
	if C.acemq_broker_new(ptr, length, &native, &failure) < 0 {
		return nil, taken(failure)
	}
	return newBroker(native), nil
}

func newBroker(native *C.AcemqBroker) *EmbeddedBroker {
	return &EmbeddedBroker{newHandle(native, func(native *C.AcemqBroker) { C.acemq_broker_free(native) })}
}

// Close frees the broker early.
func (b *EmbeddedBroker) Close() { b.handle.close() }

// Clone is a broker of its own with everything that this one holds.
func (b *EmbeddedBroker) Clone() (*EmbeddedBroker, error) {
	native, err := b.handle.acquire()
	if err != nil {
		return nil, err
	}
	defer b.handle.release()
	var clone *C.AcemqBroker
	var failure *C.AcemqError
	if C.acemq_broker_clone(native, &clone, &failure) < 0 {
		return nil, taken(failure)
	}
	return newBroker(clone), nil
}

// Call carries out a command of the operation embedded.run: JSON in, JSON out.
func (b *EmbeddedBroker) Call(command []byte) ([]byte, error) {
	native, err := b.handle.acquire()
	if err != nil {
		return nil, err
	}
	defer b.handle.release()
	var out C.AcemqBuffer
	var failure *C.AcemqError
	ptr, length := text(string(command))
	if C.acemq_broker_call(native, ptr, length, &out, &failure) < 0 {
		return nil, taken(failure)
	}
	return takenBytes(&out), nil
}

// caller is who asks: a connection or a channel, or nobody.
type caller struct {
	kind   string
	number uint64
}

func (b *EmbeddedBroker) do(who caller, action string, input, reply any) error {
	command := map[string]any{action: input}
	if who.kind != "" {
		command[who.kind] = who.number
	}
	encoded, err := encode(command)
	if err != nil {
		return err
	}
	answer, err := b.Call(encoded)
	if err != nil {
		return err
	}
	var refusal struct {
		Refused *Refused `json:"refused"`
	}
	if err := decode(answer, &refusal); err != nil {
		return err
	}
	if refusal.Refused != nil {
		return refusal.Refused
	}
	if reply == nil {
		return nil
	}
	return decode(answer, reply)
}

type nothing struct{}

// Connect opens a connection of the broker's own user.
func (b *EmbeddedBroker) Connect() (*EmbeddedConnection, error) { return b.connect(nothing{}) }

// ConnectAs opens a connection of a user that was given permissions.
func (b *EmbeddedBroker) ConnectAs(user string) (*EmbeddedConnection, error) {
	return b.connect(map[string]any{"user": user})
}

func (b *EmbeddedBroker) connect(input any) (*EmbeddedConnection, error) {
	var reply struct {
		Connection uint64 `json:"connection"`
	}
	if err := b.do(caller{}, "connect", input, &reply); err != nil {
		return nil, err
	}
	return &EmbeddedConnection{requests{b, caller{"connection", reply.Connection}}}, nil
}

// Advance lets time pass and gives the virtual clock's new time, since 1970 or since Start.
func (b *EmbeddedBroker) Advance(by time.Duration) (time.Time, error) {
	ms, err := milliseconds(by)
	if err != nil {
		return time.Time{}, err
	}
	var reply struct {
		NowMS int64 `json:"now_ms"`
	}
	err = b.do(caller{}, "advance", map[string]any{"ms": uint64(ms)}, &reply)
	return time.UnixMilli(reply.NowMS).UTC(), err
}

// SetPermissions adds a user, or changes what one may do.
func (b *EmbeddedBroker) SetPermissions(permissions Permissions) error {
	return b.do(caller{}, "set_permissions", permissions, nil)
}

// SetPolicy sets a policy, or replaces the one of that name.
func (b *EmbeddedBroker) SetPolicy(policy PolicyDeclaration) error {
	return b.policy("set_policy", policy)
}

// SetOperatorPolicy sets an operator policy, or replaces the one of that name.
func (b *EmbeddedBroker) SetOperatorPolicy(policy PolicyDeclaration) error {
	return b.policy("set_operator_policy", policy)
}

func (b *EmbeddedBroker) policy(action string, policy PolicyDeclaration) error {
	if policy.ApplyTo == "" {
		policy.ApplyTo = "all"
	}
	return b.do(caller{}, action, policy, nil)
}

// ClearPolicy takes a policy away; false when there was none.
func (b *EmbeddedBroker) ClearPolicy(name string) (bool, error) { return b.clear("clear_policy", name) }

// ClearOperatorPolicy takes an operator policy away; false when there was none.
func (b *EmbeddedBroker) ClearOperatorPolicy(name string) (bool, error) {
	return b.clear("clear_operator_policy", name)
}

func (b *EmbeddedBroker) clear(action, name string) (bool, error) {
	var reply struct {
		Cleared bool `json:"cleared"`
	}
	err := b.do(caller{}, action, map[string]any{"name": name}, &reply)
	return reply.Cleared, err
}

// QueueContents is what a queue holds.
type QueueContents struct {
	// Ready are messages that are ready, in the order in which they would leave.
	Ready []StoredMessage `json:"ready"`
	// Unacknowledged is how many were given out and not acknowledged.
	Unacknowledged int `json:"unacknowledged"`
	// Waiting are messages that wait until they may be dead-lettered.
	Waiting   []StoredMessage `json:"waiting"`
	Consumers int             `json:"consumers"`
}

// StoredMessage is a message in a queue.
type StoredMessage struct {
	// Message is the publication that it goes back to.
	Message     uint64     `json:"message"`
	Exchange    string     `json:"exchange"`
	RoutingKey  string     `json:"routing_key"`
	Properties  Properties `json:"properties"`
	Body        Body       `json:"body"`
	ExpiresAtMS *int64     `json:"expires_at_ms"`
	Redelivered bool       `json:"redelivered"`
}

// Contents is what a queue holds; nil where there is no such queue.
func (b *EmbeddedBroker) Contents(queue string) (*QueueContents, error) {
	var reply struct {
		Contents *QueueContents `json:"contents"`
	}
	err := b.do(caller{}, "contents", map[string]any{"queue": queue}, &reply)
	return reply.Contents, err
}

// State is everything that the vhost holds, acemq.state/1.
func (b *EmbeddedBroker) State() (json.RawMessage, error) {
	var reply struct {
		State json.RawMessage `json:"state"`
	}
	err := b.do(caller{}, "state", nothing{}, &reply)
	return reply.State, err
}

// Definitions is everything that the vhost holds, as a broker would export it.
func (b *EmbeddedBroker) Definitions() (json.RawMessage, error) {
	var reply struct {
		Definitions json.RawMessage `json:"definitions"`
	}
	err := b.do(caller{}, "definitions", nothing{}, &reply)
	return reply.Definitions, err
}

// Route says where a message would go, with the way of every copy.
func (b *EmbeddedBroker) Route(message RoutedMessage) (*Route, error) {
	var reply struct {
		Route json.RawMessage `json:"route"`
	}
	if err := b.do(caller{}, "route", message.input(true), &reply); err != nil {
		return nil, err
	}
	return readRoute(reply.Route)
}

// Happening is one thing that happened to a message or a queue.
type Happening struct {
	AtMS int64 `json:"at_ms"`
	// Message is the publication; nil for what happened to a queue.
	Message *uint64 `json:"message"`
	What    string  `json:"what"`
}

// History is what happened since the broker was made, where it keeps that.
func (b *EmbeddedBroker) History() ([]Happening, error) {
	var reply struct {
		History []Happening `json:"history"`
	}
	err := b.do(caller{}, "history", nothing{}, &reply)
	return reply.History, err
}

// requests are what both a connection and a channel may ask. A connection asks on a channel that is opened for one request.
type requests struct {
	broker *EmbeddedBroker
	who    caller
}

func (r requests) do(action string, input, reply any) error {
	return r.broker.do(r.who, action, input, reply)
}

// Number is what the broker calls the connection or channel; it stands in the history.
func (r requests) Number() uint64 { return r.who.number }

// IsOpen says whether the connection or channel is open.
func (r requests) IsOpen() (bool, error) {
	var reply struct {
		Open bool `json:"open"`
	}
	err := r.do("is_open", nothing{}, &reply)
	return reply.Open, err
}

// QueueStatus is a queue as queue.declare-ok tells it.
type QueueStatus struct {
	// Name is the one that the broker gave where the request named none.
	Name      string `json:"name"`
	Messages  int    `json:"messages"`
	Consumers int    `json:"consumers"`
}

// DeclareQueue is queue.declare.
func (r requests) DeclareQueue(queue QueueDeclaration) (QueueStatus, error) {
	var reply QueueStatus
	err := r.do("declare_queue", queue, &reply)
	return reply, err
}

// DeclareQueuePassively is queue.declare with passive.
func (r requests) DeclareQueuePassively(name string) (QueueStatus, error) {
	var reply QueueStatus
	err := r.do("declare_queue_passively", map[string]any{"name": name}, &reply)
	return reply, err
}

// DeclareExchange is exchange.declare.
func (r requests) DeclareExchange(exchange ExchangeDeclaration) error {
	return r.do("declare_exchange", exchange, nil)
}

// DeclareExchangePassively is exchange.declare with passive.
func (r requests) DeclareExchangePassively(name string) error {
	return r.do("declare_exchange_passively", map[string]any{"name": name}, nil)
}

// Bind is queue.bind or exchange.bind.
func (r requests) Bind(binding BindingDeclaration) error { return r.do("bind", binding, nil) }

// Unbind is queue.unbind or exchange.unbind.
func (r requests) Unbind(binding BindingDeclaration) error { return r.do("unbind", binding, nil) }

// DeleteQueue is queue.delete; it gives the number of messages that are gone.
func (r requests) DeleteQueue(name string, ifUnused, ifEmpty bool) (int, error) {
	return r.gone("delete_queue", map[string]any{"name": name, "if_unused": ifUnused, "if_empty": ifEmpty})
}

// Purge is queue.purge; it gives the number of messages that are gone.
func (r requests) Purge(queue string) (int, error) {
	return r.gone("purge", map[string]any{"queue": queue})
}

func (r requests) gone(action string, input any) (int, error) {
	var reply struct {
		Messages int `json:"messages"`
	}
	err := r.do(action, input, &reply)
	return reply.Messages, err
}

// DeleteExchange is exchange.delete.
func (r requests) DeleteExchange(name string, ifUnused bool) error {
	return r.do("delete_exchange", map[string]any{"name": name, "if_unused": ifUnused}, nil)
}

// Body is the body of a message.
type Body []byte

// MarshalJSON writes it as the engine reads it.
func (b Body) MarshalJSON() ([]byte, error) {
	if utf8.Valid(b) {
		return json.Marshal(string(b))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString(b)})
}

// UnmarshalJSON reads what the engine writes.
func (b *Body) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var plain string
		err := json.Unmarshal(data, &plain)
		*b = Body(plain)
		return err
	}
	var encoded struct {
		Base64 []byte `json:"base64"`
	}
	err := json.Unmarshal(data, &encoded)
	*b = encoded.Base64
	return err
}

// Properties are those of a message.
type Properties struct {
	ContentType     string `json:"content_type,omitempty"`
	ContentEncoding string `json:"content_encoding,omitempty"`
	Headers         Table  `json:"headers,omitempty"`
	// DeliveryMode is 1 for transient and 2 for persistent messages.
	DeliveryMode  uint8  `json:"delivery_mode,omitempty"`
	Priority      uint8  `json:"priority,omitempty"`
	CorrelationID string `json:"correlation_id,omitempty"`
	ReplyTo       string `json:"reply_to,omitempty"`
	// Expiration is the time to live in milliseconds, as text.
	Expiration string `json:"expiration,omitempty"`
	MessageID  string `json:"message_id,omitempty"`
	// Timestamp is in seconds since 1970.
	Timestamp int64  `json:"timestamp,omitempty"`
	Type      string `json:"type,omitempty"`
	UserID    string `json:"user_id,omitempty"`
	AppID     string `json:"app_id,omitempty"`
	ClusterID string `json:"cluster_id,omitempty"`
}

// Publication is a message that is published.
type Publication struct {
	Exchange   string     `json:"exchange"`
	RoutingKey string     `json:"routing_key"`
	Mandatory  bool       `json:"mandatory"`
	Properties Properties `json:"properties"`
	Body       Body       `json:"body"`
}

// Published is what became of a publication.
type Published struct {
	// Message is the number that the broker gave it.
	Message uint64 `json:"message"`
	// Queues are those that it was routed to, sorted.
	Queues []string `json:"queues"`
	// Confirmed: its confirm is positive.
	Confirmed bool `json:"confirmed"`
	// Returned: it was mandatory and no queue got it.
	Returned bool             `json:"returned"`
	Opaque   []OpaqueExchange `json:"opaque"`
}

// Publish is basic.publish, with a confirm.
func (r requests) Publish(publication Publication) (Published, error) {
	var reply Published
	err := r.do("publish", publication, &reply)
	return reply, err
}

// EmbeddedConnection is a connection to an embedded broker.
type EmbeddedConnection struct{ requests }

// Close closes the connection, its channels and its exclusive queues.
func (c *EmbeddedConnection) Close() error { return c.do("disconnect", nothing{}, nil) }

// OpenChannel opens a channel.
func (c *EmbeddedConnection) OpenChannel() (*EmbeddedChannel, error) {
	var reply struct {
		Channel uint64 `json:"channel"`
	}
	if err := c.do("open_channel", nothing{}, &reply); err != nil {
		return nil, err
	}
	return &EmbeddedChannel{requests{c.broker, caller{"channel", reply.Channel}}}, nil
}

// Ask answers a question of a plan session, on a channel of its own.
func (c *EmbeddedConnection) Ask(question Question) (Answer, error) {
	var reply struct {
		Answer map[string]any `json:"answer"`
	}
	if err := c.do("answer_question", question.document, &reply); err != nil {
		return Answer{}, err
	}
	delete(reply.Answer, "id")
	return Answer{reply.Answer}, nil
}

// EmbeddedChannel is a channel of a connection to an embedded broker.
type EmbeddedChannel struct{ requests }

// Close closes the channel; what it did not acknowledge goes back to the queues.
func (c *EmbeddedChannel) Close() error { return c.do("close_channel", nothing{}, nil) }

// Delivery is a message as a client gets it.
type Delivery struct {
	// ConsumerTag is empty for Get.
	ConsumerTag string     `json:"consumer_tag"`
	DeliveryTag uint64     `json:"delivery_tag"`
	Redelivered bool       `json:"redelivered"`
	Exchange    string     `json:"exchange"`
	RoutingKey  string     `json:"routing_key"`
	Properties  Properties `json:"properties"`
	Body        Body       `json:"body"`
	// Queue is the one that it comes from.
	Queue string `json:"queue"`
	// Message is the publication that it goes back to.
	Message uint64 `json:"message"`
	// Remaining is, for Get, how many messages are ready behind it.
	Remaining *int `json:"remaining"`
}

// Get is basic.get; nil where there is no message.
func (c *EmbeddedChannel) Get(queue string, noAck bool) (*Delivery, error) {
	var reply struct {
		Delivery *Delivery `json:"delivery"`
	}
	err := c.do("get", map[string]any{"queue": queue, "no_ack": noAck}, &reply)
	return reply.Delivery, err
}

// Subscription is a consumer.
type Subscription struct {
	Queue string `json:"queue"`
	// ConsumerTag may be empty: then the broker gives one.
	ConsumerTag string `json:"consumer_tag"`
	NoAck       bool   `json:"no_ack"`
	Exclusive   bool   `json:"exclusive"`
	Arguments   Table  `json:"arguments"`
}

// Consume is basic.consume; it gives the consumer's tag.
func (c *EmbeddedChannel) Consume(subscription Subscription) (string, error) {
	var reply struct {
		ConsumerTag string `json:"consumer_tag"`
	}
	err := c.do("consume", subscription, &reply)
	return reply.ConsumerTag, err
}

// Cancel is basic.cancel.
func (c *EmbeddedChannel) Cancel(consumerTag string) error {
	return c.do("cancel", map[string]any{"consumer_tag": consumerTag}, nil)
}

// Qos is basic.qos: how many messages each later consumer may hold, or with global all of the channel together; 0 is any
// number.
func (c *EmbeddedChannel) Qos(prefetch uint16, global bool) error {
	return c.do("qos", map[string]any{"prefetch": prefetch, "global": global}, nil)
}

// Ack is basic.ack.
func (c *EmbeddedChannel) Ack(deliveryTag uint64, multiple bool) error {
	return c.do("ack", map[string]any{"delivery_tag": deliveryTag, "multiple": multiple}, nil)
}

// Nack is basic.nack; without requeue the messages die.
func (c *EmbeddedChannel) Nack(deliveryTag uint64, multiple, requeue bool) error {
	return c.do("nack", map[string]any{"delivery_tag": deliveryTag, "multiple": multiple, "requeue": requeue}, nil)
}

// Reject is basic.reject; without requeue the message dies.
func (c *EmbeddedChannel) Reject(deliveryTag uint64, requeue bool) error {
	return c.do("reject", map[string]any{"delivery_tag": deliveryTag, "requeue": requeue}, nil)
}

// Recover is basic.recover: everything that the channel holds goes back to the queues.
func (c *EmbeddedChannel) Recover() error { return c.do("recover", nothing{}, nil) }

// Event is what the broker told a channel without being asked; one of the two is there.
type Event struct {
	Delivered *Delivery `json:"delivered"`
	// Cancelled: a consumer is gone because its queue is.
	Cancelled *struct {
		ConsumerTag string `json:"consumer_tag"`
	} `json:"cancelled"`
}

// Events are what the broker has told the channel since it was last asked.
func (c *EmbeddedChannel) Events() ([]Event, error) {
	var reply struct {
		Events []Event `json:"events"`
	}
	err := c.do("take_events", nothing{}, &reply)
	return reply.Events, err
}
