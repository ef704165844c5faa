package acemq

// #include <acemq.h>
import "C"

import "encoding/json"

// Source is what a vhost holds: [FromTopology] or [FromDefinitions].
type Source struct{ input map[string]any }

// FromTopology is a vhost in which a topology was declared.
func FromTopology(topology *Topology, broker BrokerVersion) Source {
	return source("topology", topology.source, broker)
}

// FromDefinitions is a vhost of a definitions export, the JSON that brokers write. The broker's version and default queue type
// are those of the export unless they are given; its vhost has to be named where the export holds several.
func FromDefinitions(definitions string, broker BrokerVersion) Source {
	return source("definitions", map[string]any{"text": definitions}, broker)
}

func source(kind string, body any, broker BrokerVersion) Source {
	input := map[string]any{kind: body}
	setIf(input, "vhost", broker.VHost)
	setIf(input, "rabbitmq", broker.RabbitMQ)
	setIf(input, "default_queue_type", broker.DefaultQueueType)
	return Source{input}
}

// Router is a vhost's exchanges, queues and bindings, ready to route many messages. It never changes.
type Router struct{ handle *handle[*C.AcemqRouter] }

// NewRouter makes a router.
func NewRouter(source Source) (*Router, error) {
	encoded, err := encode(source.input)
	if err != nil {
		return nil, err
	}
	var native *C.AcemqRouter
	var failure *C.AcemqError
	ptr, length := text(string(encoded))
	if C.acemq_router_new(ptr, length, &native, &failure) < 0 {
		return nil, taken(failure)
	}
	return &Router{newHandle(native, func(native *C.AcemqRouter) { C.acemq_router_free(native) })}, nil
}

// Close frees the router early.
func (r *Router) Close() { r.handle.close() }

// RoutedMessage is a message as routing looks at it.
type RoutedMessage struct {
	// Exchange is the default exchange when it is empty.
	Exchange string
	Key      string
	Headers  Table
	// CC and BCC are further routing keys.
	CC, BCC []string
}

// Route is where a message goes.
type Route struct {
	Exchange       string `json:"exchange"`
	ExchangeExists bool   `json:"exchange_exists"`
	// Queues are those that get the message, sorted.
	Queues []string `json:"queues"`
	// Opaque are exchanges that it reached and whose choice is not known.
	Opaque []OpaqueExchange `json:"opaque"`
	// Copies and Misses are there in an explanation.
	Copies []RouteCopy       `json:"copies"`
	Misses []json.RawMessage `json:"misses"`
	// Document is acemq.route/1.
	Document json.RawMessage `json:"-"`
}

// OpaqueExchange is an exchange of a type whose routing is not known.
type OpaqueExchange struct {
	Exchange string `json:"exchange"`
	Type     string `json:"type"`
}

// RouteCopy is a copy of the message with the way that it took.
type RouteCopy struct {
	Queue string            `json:"queue"`
	Path  []json.RawMessage `json:"path"`
}

// Route says where a message goes.
func (r *Router) Route(message RoutedMessage) (*Route, error) { return r.route(message, false) }

// Explain says where a message goes and why: the way of every copy, and what came near.
func (r *Router) Explain(message RoutedMessage) (*Route, error) { return r.route(message, true) }

func (message RoutedMessage) input(explain bool) map[string]any {
	input := map[string]any{"exchange": message.Exchange, "key": message.Key, "explain": explain}
	if message.Headers != nil {
		input["headers"] = message.Headers
	}
	if message.CC != nil {
		input["cc"] = message.CC
	}
	if message.BCC != nil {
		input["bcc"] = message.BCC
	}
	return input
}

func (r *Router) route(message RoutedMessage, explain bool) (*Route, error) {
	encoded, err := encode(message.input(explain))
	if err != nil {
		return nil, err
	}
	native, err := r.handle.acquire()
	if err != nil {
		return nil, err
	}
	defer r.handle.release()
	var out C.AcemqBuffer
	var failure *C.AcemqError
	ptr, length := text(string(encoded))
	if C.acemq_router_route(native, ptr, length, &out, &failure) < 0 {
		return nil, taken(failure)
	}
	return readRoute(takenBytes(&out))
}

func readRoute(document []byte) (*Route, error) {
	route := &Route{Document: document}
	return route, decode(document, route)
}
