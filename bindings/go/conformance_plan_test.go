package acemq_test

// The conformance cases for plan sessions.

import (
	"encoding/json"
	"errors"
	"strings"

	acemq "github.com/acemq/acemq-core/bindings/go"
)

// runSession gives the answers to a session, one after the other.
func runSession(input json.RawMessage) (any, error) {
	var in struct {
		withTopology
		acemq.SessionOptions
		SkipExclusive  bool `json:"skip_exclusive"`
		CanSetPolicies bool `json:"can_set_policies"`
		UpdatePolicies bool `json:"update_policies"`
		Width          int
		Answers        []struct {
			ID             uint64
			OK             *struct{ Messages, Consumers int }
			Refused        *acemq.Refused
			Failed, Cannot *string
		}
	}
	decodeInput(input, &in)
	options := in.SessionOptions
	options.SkipExclusive, options.CanSetPolicies, options.UpdatePolicies = in.SkipExclusive, in.CanSetPolicies, in.UpdatePolicies
	session, err := acemq.NewPlanSession(in.topology(), options)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	for _, given := range in.Answers {
		if _, err := session.Questions(); err != nil {
			return nil, err
		}
		var answer acemq.Answer
		switch {
		case given.Failed != nil && given.Cannot != nil:
			panic(unheld{errors.New("two answers in one")})
		case given.OK != nil:
			answer = acemq.Accepted(given.OK.Messages, given.OK.Consumers)
		case given.Refused != nil:
			answer = acemq.RefusedBy(*given.Refused)
		case given.Failed != nil:
			answer = acemq.Failed(*given.Failed)
		case given.Cannot != nil:
			answer = acemq.Cannot(*given.Cannot)
		}
		if err := session.Answer(given.ID, answer); err != nil {
			return nil, err
		}
	}
	questions, err := session.Questions()
	if err != nil {
		return nil, err
	}
	plan, err := session.Plan()
	if err != nil {
		return nil, err
	}
	text, err := plan.Render(acemq.PlanStyle, in.Width)
	if err != nil {
		return nil, err
	}
	lines, err := plan.Render(acemq.LinesStyle, 0)
	output := object{
		"finished": session.Finished(), "questions": append([]acemq.Question{}, questions...), "plan": plan.Document,
		"text": text, "lines": lines, "drift": plan.Drift(), "lines_block": plan.Block(acemq.LinesStyle), "error": nil,
		// Wrapped, the notes stand behind an empty line.
		"block": plan.Block(acemq.PlanStyle),
	}
	if in.Width > 0 {
		block, _, _ := strings.Cut(text, "\n\n")
		output["block"] = strings.TrimSuffix(block, "\n") + "\n"
	}
	if plan.Err != nil {
		output["error"] = plan.Err.Error()
	}
	return output, err
}
