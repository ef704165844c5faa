package acemq

// #include <acemq.h>
import "C"

import (
	"errors"
	"reflect"
	"strings"
	"unicode/utf8"
)

// ErrClosed is what a closed handle answers.
var ErrClosed = errors.New("acemq: this was closed before")

// Problem is one thing that is wrong.
type Problem struct {
	// Code is stable, as in "name_too_long".
	Code string `json:"code"`
	// Fields are the particulars by name; whole numbers are json.Number.
	Fields map[string]any `json:"fields"`
	// Message says what is wrong.
	Message string `json:"message"`
	// Help says what to do.
	Help string `json:"help"`
}

// Error is what the engine refuses, with everything that is wrong. Find it with errors.As:
//
//	var refused *acemq.Error
//	if errors.As(err, &refused) && refused.Code == "name_too_long" { … }
type Error struct {
	// The first problem.
	Problem
	// All problems, the first one included.
	Problems []Problem `json:"problems"`
}

// Error says what is wrong and what to do, one line for each problem.
func (e *Error) Error() string {
	lines := make([]string, 0, len(e.Problems))
	for _, problem := range e.Problems {
		lines = append(lines, "acemq: "+problem.Message+"; "+problem.Help)
	}
	return strings.Join(lines, "\n")
}

// taken is the error of a call, which the library gives up.
func taken(failure *C.AcemqError) error {
	defer C.acemq_error_free(failure)
	e := &Error{}
	if err := decode([]byte(borrowed(C.acemq_error_detail(failure))), e); err != nil {
		e.Problem = Problem{Code: borrowed(C.acemq_error_code(failure)), Message: borrowed(C.acemq_error_message(failure))}
		e.Problems = []Problem{e.Problem}
	}
	return e
}

func own(code, message, help string) *Error {
	problem := Problem{Code: code, Message: message, Help: help, Fields: map[string]any{}}
	return &Error{Problem: problem, Problems: []Problem{problem}}
}

// checkUTF8 finds text that is no UTF-8 anywhere in a value.
func checkUTF8(value any) error {
	if bad, found := badText(reflect.ValueOf(value)); found {
		return own("invalid_utf8", strings.ToValidUTF8(bad, "\uFFFD")+" is no UTF-8", "give UTF-8")
	}
	return nil
}

func badText(value reflect.Value) (string, bool) {
	switch value.Kind() {
	case reflect.String:
		return value.String(), !utf8.ValidString(value.String())
	case reflect.Pointer, reflect.Interface:
		return badText(value.Elem())
	case reflect.Slice, reflect.Array:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			return "", false
		}
		for i := range value.Len() {
			if bad, found := badText(value.Index(i)); found {
				return bad, true
			}
		}
	case reflect.Map:
		for entries := value.MapRange(); entries.Next(); {
			if bad, found := badText(entries.Key()); found {
				return bad, true
			}
			if bad, found := badText(entries.Value()); found {
				return bad, true
			}
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if bad, found := badText(value.Field(i)); found {
				return bad, true
			}
		}
	}
	return "", false
}
