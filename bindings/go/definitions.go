package acemq

import "encoding/json"

// ReadState is everything that a vhost holds, acemq.state/1: exchanges, queues, bindings and policies with their canonical
// tables, and one fingerprint.
func ReadState(source Source) (json.RawMessage, error) {
	var state json.RawMessage
	err := Call("definitions.state", map[string]any{"state": source.input}, &state)
	return state, err
}

// ImportEffect is what an import would not simply create.
type ImportEffect struct {
	// Outcome is "refused", "skipped" or "changed".
	Outcome string `json:"outcome"`
	VHost   string `json:"vhost"`
	Message string `json:"message"`
	// At is the place in the export, with line and column.
	At json.RawMessage `json:"at,omitempty"`
}

// PreviewImport is what importing an export would skip, refuse or change, in the order of the file, on a broker of that RabbitMQ
// version that holds these vhosts. A fresh broker has "/"; the newest known version is meant by "".
func PreviewImport(definitions string, there []Source, rabbitmq string) ([]ImportEffect, error) {
	input := map[string]any{"definitions": map[string]any{"text": definitions}}
	setIf(input, "rabbitmq", rabbitmq)
	if len(there) > 0 {
		states := make([]any, 0, len(there))
		for _, vhost := range there {
			states = append(states, vhost.input)
		}
		input["there"] = states
	}
	var answer struct {
		Effects []ImportEffect `json:"effects"`
	}
	err := Call("definitions.preview", input, &answer)
	return answer.Effects, err
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
