package acemq_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	acemq "github.com/acemq/acemq-core/bindings/go"
)

// The conformance suites, through the typed functions of this package. Run by itself it is
//
//	go test -run TestConformance -v
//
// ACEMQ_CONFORMANCE names another folder than the repository's; ACEMQ_RESULTS a folder for one line of results.

type suite struct {
	Suite     string
	Operation string
	Cases     []testCase
}

type testCase struct {
	ID          string
	Description string
	Input       json.RawMessage
	Expect      any
	Error       map[string]any
}

func read(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func TestConformance(t *testing.T) {
	folder := os.Getenv("ACEMQ_CONFORMANCE")
	if folder == "" {
		folder = "../../conformance"
	}
	var index struct {
		SpecVersion int `json:"spec_version"`
		Cases       int
		Suites      []struct{ File string }
	}
	if err := read(filepath.Join(folder, "index.json"), &index); err != nil {
		t.Fatal(err)
	}
	if index.SpecVersion != acemq.SpecVersion() {
		t.Errorf("the suites are of version %d, the engine passes version %d", index.SpecVersion, acemq.SpecVersion())
	}
	passed, failed := 0, 0
	for _, listed := range index.Suites {
		var s suite
		if err := read(filepath.Join(folder, listed.File), &s); err != nil {
			t.Error(err)
			continue
		}
		for _, c := range s.Cases {
			if err := run(s.Operation, c); err != nil {
				failed++
				t.Errorf("%s (%s): %v", c.ID, c.Description, err)
			} else {
				passed++
			}
		}
	}
	t.Logf("%d of the cases hold what Go's types do not, and went through CallJSON", raw)
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if passed+failed != index.Cases {
		t.Errorf("%d cases ran, the index has %d", passed+failed, index.Cases)
	}
	if results := os.Getenv("ACEMQ_RESULTS"); results != "" {
		line := fmt.Sprintf("go\t%d\t%d\t%d\n", passed+failed, index.Cases, failed)
		if err := os.WriteFile(filepath.Join(results, "go.tsv"), []byte(line), 0o644); err != nil {
			t.Error(err)
		}
	}
}

func run(operation string, c testCase) error {
	typed, found := operations[operation]
	if !found {
		return fmt.Errorf("this runner does not know %s", operation)
	}
	output, err := held(operation, c.Input, typed)
	if c.Error != nil {
		var refused *acemq.Error
		if !errors.As(err, &refused) {
			return fmt.Errorf("wanted the error %v, got %v and %v", c.Error, output, err)
		}
		// With `problems`, all of them in any order.
		return matchesError(c.Error, plain(refused).(map[string]any))
	}
	if err != nil {
		return err
	}
	return matches("", c.Expect, plain(output))
}

// held runs the typed call. What Go's types do not hold, a number where a text belongs or more milliseconds than a
// time.Duration counts, goes through the table of operations, like any other caller with such an input.
func held(operation string, input json.RawMessage, typed func(json.RawMessage) (any, error)) (output any, err error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case unheld:
			raw++
			var answer []byte
			answer, err = acemq.CallJSON(operation, input)
			output = json.RawMessage(answer)
		default:
			panic(reason)
		}
	}()
	return typed(input)
}

// raw counts the cases that went through the table of operations.
var raw int

// plain is a value as JSON shows it.
func plain(value any) any {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	var read any
	if err := decoder.Decode(&read); err != nil {
		panic(err)
	}
	return read
}

func matchesError(wanted, got map[string]any) error {
	for _, key := range []string{"code", "fields"} {
		if expected, found := wanted[key]; found {
			if err := matches(key, expected, got[key]); err != nil {
				return err
			}
		}
	}
	expected, found := wanted["problems"].([]any)
	if !found {
		return nil
	}
	open := append([]any{}, got["problems"].([]any)...)
	if len(expected) != len(open) {
		return fmt.Errorf("%d problems instead of %d: %v", len(open), len(expected), open)
	}
next:
	for _, problem := range expected {
		for i, candidate := range open {
			if matches("", problem, candidate) == nil {
				open = append(open[:i], open[i+1:]...)
				continue next
			}
		}
		return fmt.Errorf("there is no problem %v among %v", problem, open)
	}
	return nil
}

// matches compares as conformance/README.md says: further keys are fine, numbers are compared by value.
func matches(at string, wanted, got any) error {
	differs := fmt.Errorf("%s is %v instead of %v", strings.TrimPrefix(at, "."), got, wanted)
	switch w := wanted.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return differs
		}
		for key, value := range w {
			inner, found := g[key]
			if !found && value != nil {
				return fmt.Errorf("%s.%s is missing in %v", at, key, got)
			}
			if err := matches(at+"."+key, value, inner); err != nil {
				return err
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return differs
		}
		for i := range w {
			if err := matches(fmt.Sprintf("%s[%d]", at, i), w[i], g[i]); err != nil {
				return err
			}
		}
	case json.Number:
		g, ok := got.(json.Number)
		if !ok || number(w).Cmp(number(g)) != 0 {
			return differs
		}
	default:
		if wanted != got {
			return differs
		}
	}
	return nil
}

func number(n json.Number) *big.Rat {
	value, ok := new(big.Rat).SetString(n.String())
	if !ok {
		panic(n)
	}
	return value
}

type object = map[string]any

// operations are the typed calls that stand for each operation.
var operations = merged(valueOperations, topologyOperations, vhostOperations)

func merged(groups ...map[string]operation) map[string]operation {
	all := map[string]operation{}
	for _, group := range groups {
		for name, typed := range group {
			all[name] = typed
		}
	}
	return all
}

// operation runs the typed calls for one input.
type operation = func(json.RawMessage) (any, error)

func decodeInput(input json.RawMessage, into any) {
	if err := json.Unmarshal(input, into); err != nil {
		panic(unheld{err})
	}
}

// unheld: a Go program could not even write such an input down.
type unheld struct{ error }

func typed[T any](call func(T) (any, error)) func(json.RawMessage) (any, error) {
	return func(input json.RawMessage) (any, error) {
		var in T
		decodeInput(input, &in)
		return call(in)
	}
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}
