package acemq

import "encoding/json"

// Finding is one thing that is wrong with a vhost.
type Finding struct {
	// Code is stable; see [ExplainFinding].
	Code string `json:"code"`
	// Severity is "error", "warning" or "info".
	Severity string `json:"severity"`
	// Object is what it is about.
	Object struct {
		Kind  string `json:"kind"`
		Name  string `json:"name"`
		VHost string `json:"vhost"`
	} `json:"object"`
	// Message says what is wrong, as a sentence.
	Message string `json:"message"`
	// Why says what is the matter with it, Fix the way out.
	Why string `json:"why"`
	Fix string `json:"fix"`
	// Example is the message that shows it; null where there is none.
	Example json.RawMessage `json:"example"`
	// Fingerprint stays the same as long as the finding does.
	Fingerprint string `json:"fingerprint"`
}

// Audit is everything that is wrong with a vhost.
type Audit struct {
	Findings []Finding `json:"findings"`
	// Summary counts them.
	Summary struct {
		Error   int            `json:"error"`
		Warning int            `json:"warning"`
		Info    int            `json:"info"`
		Codes   map[string]int `json:"codes"`
	} `json:"summary"`
	// Document is acemq.audit/1.
	Document json.RawMessage `json:"-"`
}

// AuditVHost looks for messages that will be lost and, with a target version, for what an upgrade to it would break. Of a
// topology only its own objects are known: somebody else may declare the rest.
func AuditVHost(source Source, target string) (*Audit, error) {
	input := map[string]any{"state": source.input}
	setIf(input, "target", target)
	audit := &Audit{}
	if err := Call("audit.check", input, &audit.Document); err != nil {
		return nil, err
	}
	return audit, decode(audit.Document, audit)
}

// ExplainFinding is what a code of a finding means: condition, versions, why, fix and an example.
func ExplainFinding(code string) (json.RawMessage, error) {
	var explained json.RawMessage
	err := Call("audit.explain", map[string]any{"code": code}, &explained)
	return explained, err
}

// PictureForm is the form of a picture.
type PictureForm string

// The forms of a picture.
const (
	DOT     PictureForm = "dot"
	Mermaid PictureForm = "mermaid"
	SVG     PictureForm = "svg"
	HTML    PictureForm = "html"
)

// PictureOptions are the wishes for a picture.
type PictureOptions struct {
	// Target is a version to upgrade to, whose findings are shown too.
	Target string
	// All shows every node, however many there are.
	All bool
}

// Draw is a picture of a vhost, with dead letters and retries apart and findings on the nodes.
func Draw(source Source, form PictureForm, options PictureOptions) (string, error) {
	input := map[string]any{"state": source.input, "form": form}
	setIf(input, "target", options.Target)
	if options.All {
		input["all"] = true
	}
	var picture struct{ Text string }
	err := Call("audit.graph", input, &picture)
	return picture.Text, err
}
