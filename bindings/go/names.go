package acemq

/*
#include <acemq.h>
*/
import "C"

import (
	"math"
	"time"
)

// NameKind is what has a name.
type NameKind string

const (
	// QueueName is the name of a queue or a stream.
	QueueName NameKind = "queue"
	// ExchangeName is the name of an exchange.
	ExchangeName NameKind = "exchange"
)

// CheckedName is a name that RabbitMQ takes as it stands.
type CheckedName struct {
	// Bytes is its length in UTF-8.
	Bytes int `json:"bytes"`
	// Shown is how people see it: control characters are escaped.
	Shown string `json:"shown"`
}

// CheckName says whether RabbitMQ takes a name as it stands, for something that is to be declared.
func CheckName(kind NameKind, name string) (CheckedName, error) {
	var checked CheckedName
	err := Call("name.check", map[string]any{"kind": kind, "name": name}, &checked)
	return checked, err
}

// Names are those that a queue implies, whatever its retries.
type Names struct {
	DeadLetterQueue    string `json:"dead_letter_queue"`
	ParkedQueue        string `json:"parked_queue"`
	DeadLetterExchange string `json:"dead_letter_exchange"`
	RetryExchange      string `json:"retry_exchange"`
}

// ImpliedNames are the dead-letter queue, the parked queue and the shared exchanges of a queue.
func ImpliedNames(queue string) (Names, error) {
	var names Names
	err := Call("name.implied", map[string]any{"queue": queue}, &names)
	return names, err
}

// DeadLetterQueue is the name of the queue that takes rejected messages of a queue.
func DeadLetterQueue(queue string) (string, error) {
	var name C.AcemqBuffer
	var failure *C.AcemqError
	ptr, length := text(queue)
	if C.acemq_dead_letter_queue(ptr, length, &name, &failure) < 0 {
		return "", taken(failure)
	}
	return takenText(&name), nil
}

// ParkedQueue is the name of the queue that takes messages which a person has to look at.
func ParkedQueue(queue string) (string, error) {
	var name C.AcemqBuffer
	var failure *C.AcemqError
	ptr, length := text(queue)
	if C.acemq_parked_queue(ptr, length, &name, &failure) < 0 {
		return "", taken(failure)
	}
	return takenText(&name), nil
}

// RetryQueue is the name of the queue in which messages of a queue wait for a delay.
func RetryQueue(queue string, delay time.Duration) (string, error) {
	ms, err := milliseconds(delay)
	if err != nil {
		return "", err
	}
	var name C.AcemqBuffer
	var failure *C.AcemqError
	ptr, length := text(queue)
	if C.acemq_retry_queue(ptr, length, ms, &name, &failure) < 0 {
		return "", taken(failure)
	}
	return takenText(&name), nil
}

// DelayText is the exact text of a delay in the name of a retry rung: "2h", "5m", "90s", "30500ms".
func DelayText(delay time.Duration) (string, error) {
	ms, err := milliseconds(delay)
	if err != nil {
		return "", err
	}
	var printed C.AcemqBuffer
	var failure *C.AcemqError
	if C.acemq_delay_text(ms, &printed, &failure) < 0 {
		return "", taken(failure)
	}
	return takenText(&printed), nil
}

// ParseDuration reads a duration as documents and policies write it: digits and one of ms, s, m, h; or 0. One that
// [time.Duration] cannot hold, more than 292 years, is its longest.
func ParseDuration(duration string) (time.Duration, error) {
	var ms C.uint64_t
	var failure *C.AcemqError
	ptr, length := text(duration)
	if C.acemq_parse_duration(ptr, length, &ms, &failure) < 0 {
		return 0, taken(failure)
	}
	return toDuration(uint64(ms)), nil
}

// Milliseconds are the whole milliseconds of a duration; a rest, and a negative duration, is refused.
func Milliseconds(duration time.Duration) (int64, error) {
	ms, err := milliseconds(duration)
	return int64(ms), err
}

// MillisecondsFromSeconds is the nearest whole millisecond to floating-point seconds, as configurations hold them; what is
// further away than a microsecond is refused.
func MillisecondsFromSeconds(seconds float64) (uint64, error) {
	var ms C.uint64_t
	var failure *C.AcemqError
	if C.acemq_milliseconds_from_seconds(C.double(seconds), &ms, &failure) < 0 {
		return 0, taken(failure)
	}
	return uint64(ms), nil
}

func milliseconds(duration time.Duration) (C.uint64_t, error) {
	var ms C.uint64_t
	var failure *C.AcemqError
	var status C.int32_t
	if duration < 0 {
		// The engine has the words for it.
		status = C.acemq_milliseconds_from_seconds(C.double(duration.Seconds()), &ms, &failure)
	} else {
		status = C.acemq_milliseconds_from_nanoseconds(C.uint64_t(duration), &ms, &failure)
	}
	if status < 0 {
		return 0, taken(failure)
	}
	return ms, nil
}

func toDuration(ms uint64) time.Duration {
	if ms > math.MaxInt64/uint64(time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(ms) * time.Millisecond
}
