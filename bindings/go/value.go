package acemq

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Table is an AMQP table: arguments, headers, definitions of policies.
//
// Values are bool, string, int and int64 (AMQP's long), the other integer types (AMQP's type of that width), float64 and
// float32, [Decimal], [time.Time] (whole seconds), []byte (AMQP's byte array), nil (AMQP's void), []any, Table and
// map[string]any. Values that come from the engine have these types too, whole numbers as int64.
type Table map[string]any

// Decimal is AMQP's decimal: Unscaled divided by ten to the power of Scale.
type Decimal struct {
	Scale    uint8
	Unscaled uint32
}

// MarshalJSON writes the table as the engine reads it: every value keeps its AMQP type.
func (t Table) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	if err := writeTable(&out, t); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func writeTable(out *bytes.Buffer, table map[string]any) error {
	names := make([]string, 0, len(table))
	tagged := false
	for name := range table {
		names = append(names, name)
		tagged = tagged || strings.HasPrefix(name, "@")
	}
	sort.Strings(names)
	if tagged {
		out.WriteString(`{"@F":`)
		defer out.WriteByte('}')
	}
	out.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeJSON(out, name); err != nil {
			return err
		}
		out.WriteByte(':')
		if err := writeValue(out, table[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	out.WriteByte('}')
	return nil
}

func writeJSON(out *bytes.Buffer, value any) error {
	encoded, err := json.Marshal(value)
	out.Write(encoded)
	return err
}

func writeTagged(out *bytes.Buffer, letter byte, value any) error {
	fmt.Fprintf(out, `{"@%c":`, letter)
	defer out.WriteByte('}')
	return writeJSON(out, value)
}

func writeValue(out *bytes.Buffer, value any) error {
	switch v := value.(type) {
	case nil:
		return writeTagged(out, 'V', nil)
	case bool, string, int, int64, json.Number:
		return writeJSON(out, v)
	case int8:
		return writeTagged(out, 'b', v)
	case uint8:
		return writeTagged(out, 'B', v)
	case int16:
		return writeTagged(out, 's', v)
	case uint16:
		return writeTagged(out, 'u', v)
	case int32:
		return writeTagged(out, 'I', v)
	case uint32:
		return writeTagged(out, 'i', v)
	case uint:
		return writeJSON(out, v)
	case uint64:
		return writeJSON(out, v)
	case float32:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return writeTagged(out, 'f', fmt.Sprintf("0x%08x", math.Float32bits(v)))
		}
		return writeTagged(out, 'f', v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return writeTagged(out, 'd', fmt.Sprintf("0x%016x", math.Float64bits(v)))
		}
		if v == math.Trunc(v) {
			// A bare 5 would be an integer.
			return writeTagged(out, 'd', v)
		}
		return writeJSON(out, v)
	case Decimal:
		return writeTagged(out, 'D', [2]uint32{uint32(v.Scale), v.Unscaled})
	case []byte:
		return writeTagged(out, 'x', v)
	case time.Time:
		return writeTagged(out, 'T', v.Unix())
	case time.Duration:
		return own("wrong_value", "a duration is no AMQP value", "say in which unit the argument counts, as in d.Milliseconds()")
	case []any:
		out.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeValue(out, item); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return nil
	case []string:
		return writeJSON(out, v)
	case Table:
		return writeTable(out, v)
	case map[string]any:
		return writeTable(out, v)
	default:
		return own("wrong_value", fmt.Sprintf("%T is no AMQP value", value), "use one of the types that acemq.Table names")
	}
}

// UnmarshalJSON reads the table as the engine writes it.
func (t *Table) UnmarshalJSON(data []byte) error {
	var plain map[string]any
	if err := decode(data, &plain); err != nil {
		return err
	}
	value, err := readValue(plain)
	if err != nil {
		return err
	}
	table, ok := value.(Table)
	if !ok {
		return fmt.Errorf("acemq: %s is no table", data)
	}
	*t = table
	return nil
}

func readValue(value any) (any, error) {
	switch v := value.(type) {
	case json.Number:
		return readNumber(v)
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			read, err := readValue(item)
			if err != nil {
				return nil, err
			}
			items[i] = read
		}
		return items, nil
	case map[string]any:
		for name, inner := range v {
			if strings.HasPrefix(name, "@") {
				if len(v) > 1 {
					return nil, fmt.Errorf("acemq: %q tags a single value and stands beside others", name)
				}
				return readTagged(name, inner)
			}
		}
		return readTable(v)
	case nil:
		return nil, errors.New(`acemq: null is no AMQP value, AMQP's void is {"@V": null}`)
	default:
		return v, nil
	}
}

func readTable(plain map[string]any) (any, error) {
	table := make(Table, len(plain))
	for name, item := range plain {
		read, err := readValue(item)
		if err != nil {
			return nil, err
		}
		table[name] = read
	}
	return table, nil
}

func readNumber(number json.Number) (any, error) {
	if strings.ContainsAny(number.String(), ".eE") {
		return number.Float64()
	}
	if whole, err := number.Int64(); err == nil {
		return whole, nil
	}
	// Beyond AMQP's integers: the engine says so.
	return number, nil
}

func readTagged(name string, inner any) (any, error) {
	wrong := fmt.Errorf("acemq: %q holds %v, which is none", name, inner)
	if name == "@V" {
		return nil, nil
	}
	switch v := inner.(type) {
	case map[string]any:
		if name == "@F" {
			return readTable(v)
		}
	case []any:
		if name == "@A" {
			return readValue(v)
		}
		if name == "@D" && len(v) == 2 {
			scale, err := strconv.ParseUint(fmt.Sprint(v[0]), 10, 8)
			unscaled, err2 := strconv.ParseUint(fmt.Sprint(v[1]), 10, 32)
			if err == nil && err2 == nil {
				return Decimal{uint8(scale), uint32(unscaled)}, nil
			}
		}
	case string:
		return readTaggedText(name, v)
	case json.Number:
		if name == "@d" {
			return v.Float64()
		}
		if name == "@f" {
			single, err := strconv.ParseFloat(v.String(), 32)
			return float32(single), err
		}
		return readInteger(name, v)
	case bool:
		if name == "@t" {
			return v, nil
		}
	}
	return nil, wrong
}

func readTaggedText(name, text string) (any, error) {
	switch name {
	case "@x":
		return base64.StdEncoding.DecodeString(text)
	case "@S":
		// A long string that is no UTF-8.
		decoded, err := base64.StdEncoding.DecodeString(text)
		return string(decoded), err
	case "@d":
		bits, err := strconv.ParseUint(text, 0, 64)
		return math.Float64frombits(bits), err
	case "@f":
		bits, err := strconv.ParseUint(text, 0, 32)
		return math.Float32frombits(uint32(bits)), err
	}
	return nil, fmt.Errorf("acemq: %q holds a text", name)
}

func readInteger(name string, number json.Number) (any, error) {
	signed := func(bits int) (int64, error) { return strconv.ParseInt(number.String(), 10, bits) }
	unsigned := func(bits int) (uint64, error) { return strconv.ParseUint(number.String(), 10, bits) }
	switch name {
	case "@b":
		whole, err := signed(8)
		return int8(whole), err
	case "@B":
		whole, err := unsigned(8)
		return uint8(whole), err
	case "@s":
		whole, err := signed(16)
		return int16(whole), err
	case "@u":
		whole, err := unsigned(16)
		return uint16(whole), err
	case "@I":
		whole, err := signed(32)
		return int32(whole), err
	case "@i":
		whole, err := unsigned(32)
		return uint32(whole), err
	case "@l":
		return signed(64)
	case "@T":
		whole, err := signed(64)
		return time.Unix(whole, 0).UTC(), err
	}
	return nil, fmt.Errorf("acemq: %q is no AMQP type of a number", name)
}
