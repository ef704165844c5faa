package acemq

import "encoding/json"

// ReadState is everything that a vhost holds, acemq.state/1: exchanges, queues, bindings and policies with their canonical
// tables, and one fingerprint.
func ReadState(source Source) (json.RawMessage, error) {
	var state json.RawMessage
	err := Call("definitions.state", map[string]any{"state": source.input}, &state)
	return state, err
}

// EffectiveSetting is what holds for a queue or an exchange under one key, and where it comes from.
type EffectiveSetting struct {
	Value json.RawMessage `json:"value"`
	// Source is "argument", "policy", "operator_policy" or the like.
	Source string `json:"source"`
	// Policy is the name of the policy that it comes from, where it comes from one.
	Policy string `json:"policy,omitempty"`
}

// EffectiveSettings are the settings of a queue or exchange after policies and arguments are merged, by keys without x-.
func EffectiveSettings(source Source, kind NameKind, name string) (map[string]EffectiveSetting, error) {
	var answer struct {
		Settings map[string]EffectiveSetting `json:"settings"`
	}
	err := Call("policy.effective", map[string]any{"state": source.input, "kind": kind, "name": name}, &answer)
	return answer.Settings, err
}

// Simulation is a scenario, played on the embedded broker.
type Simulation struct {
	// RabbitMQ is the version whose rules it was played by.
	RabbitMQ string `json:"rabbitmq"`
	// Failed is the number of steps that did not come out as expected.
	Failed int `json:"failed"`
	// Document is acemq.simulation/1, with every step.
	Document json.RawMessage `json:"-"`
}

// Simulate plays a scenario, YAML or JSON; by the rules of that RabbitMQ version, or of the scenario's own when it is "".
func Simulate(scenario, rabbitmq string) (*Simulation, error) {
	input := map[string]any{"scenario": map[string]any{"text": scenario}}
	setIf(input, "rabbitmq", rabbitmq)
	simulation := &Simulation{}
	if err := Call("embedded.simulate", input, &simulation.Document); err != nil {
		return nil, err
	}
	return simulation, decode(simulation.Document, simulation)
}
