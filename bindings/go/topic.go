package acemq

/*
#cgo nocallback acemq_topic_matches
#cgo noescape acemq_topic_matches
#cgo nocallback acemq_pattern_matches
#cgo noescape acemq_pattern_matches
#cgo nocallback acemq_pattern_matches_batch
#cgo noescape acemq_pattern_matches_batch
#cgo nocallback acemq_matcher_matches
#cgo noescape acemq_matcher_matches
#cgo nocallback acemq_matcher_matches_batch
#cgo noescape acemq_matcher_matches_batch
#include <acemq.h>
*/
import "C"

import (
	"iter"
	"math"
	"unsafe"
)

// TopicMatches says whether a topic pattern matches a routing key. Both are any bytes; words are separated by dots, * is one
// word and # any number.
func TopicMatches(pattern, key string) bool {
	patternPtr, patternLen := text(pattern)
	keyPtr, keyLen := text(key)
	return C.acemq_topic_matches(patternPtr, patternLen, keyPtr, keyLen, nil) == C.ACEMQ_YES
}

// TopicPattern is a compiled pattern. It never changes.
type TopicPattern struct {
	handle  *handle[*C.AcemqPattern]
	pattern string
}

// NewTopicPattern compiles a pattern; every string is one.
func NewTopicPattern(pattern string) (*TopicPattern, error) {
	var native *C.AcemqPattern
	var failure *C.AcemqError
	ptr, length := text(pattern)
	if C.acemq_pattern_new(ptr, length, &native, &failure) < 0 {
		return nil, taken(failure)
	}
	free := func(native *C.AcemqPattern) { C.acemq_pattern_free(native) }
	return &TopicPattern{newHandle(native, free), pattern}, nil
}

// Close frees the pattern early; a closed one matches nothing.
func (p *TopicPattern) Close() { p.handle.close() }

// String is the pattern.
func (p *TopicPattern) String() string { return p.pattern }

// Matches says whether it matches a routing key.
func (p *TopicPattern) Matches(key string) bool {
	native, err := p.handle.acquire()
	if err != nil {
		return false
	}
	ptr, length := text(key)
	matches := C.acemq_pattern_matches(native, ptr, length, nil) == C.ACEMQ_YES
	p.handle.release()
	return matches
}

// Keys are many routing keys, laid end to end for one call. The zero value holds none.
type Keys struct {
	bytes   []byte
	offsets []uint32
}

// NewKeys lays keys end to end.
func NewKeys(keys ...string) *Keys {
	k := &Keys{}
	for _, key := range keys {
		k.Add(key)
	}
	return k
}

// Add appends a key. All keys together have less than 4 GiB: from then on further ones are refused with false.
func (k *Keys) Add(key string) bool {
	if len(k.offsets) == 0 {
		k.offsets = append(k.offsets, 0)
	}
	if uint64(len(k.bytes))+uint64(len(key)) > math.MaxUint32 {
		return false
	}
	k.bytes = append(k.bytes, key...)
	k.offsets = append(k.offsets, uint32(len(k.bytes)))
	return true
}

// Len is the number of keys.
func (k *Keys) Len() int { return max(len(k.offsets)-1, 0) }

// Reset takes all keys out and keeps the memory.
func (k *Keys) Reset() { k.bytes, k.offsets = k.bytes[:0], k.offsets[:0] }

func (k *Keys) native() (*C.uint8_t, C.size_t, *C.uint32_t, C.size_t) {
	return (*C.uint8_t)(unsafe.SliceData(k.bytes)), C.size_t(len(k.bytes)),
		(*C.uint32_t)(unsafe.SliceData(k.offsets)), C.size_t(k.Len())
}

// MatchesAll says for each key whether the pattern matches it, in one call.
func (p *TopicPattern) MatchesAll(keys *Keys) ([]bool, error) {
	native, err := p.handle.acquire()
	if err != nil {
		return nil, err
	}
	defer p.handle.release()
	results := make([]bool, keys.Len())
	bytes, length, offsets, count := keys.native()
	var failure *C.AcemqError
	// The library writes 0 and 1, which is what a bool is.
	out := (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(results)))
	if C.acemq_pattern_matches_batch(native, bytes, length, offsets, count, out, &failure) < 0 {
		return nil, taken(failure)
	}
	return results, nil
}

// TopicMatcher holds many bindings, compiled: it finds those that a routing key fits, whatever their number. A binding is a
// pattern and a number of the caller's, often an index into a slice of queues.
type TopicMatcher struct {
	handle *handle[*C.AcemqMatcher]
}

// NewTopicMatcher has no bindings.
func NewTopicMatcher() (*TopicMatcher, error) {
	var native *C.AcemqMatcher
	var failure *C.AcemqError
	if C.acemq_matcher_new(&native, &failure) < 0 {
		return nil, taken(failure)
	}
	free := func(native *C.AcemqMatcher) { C.acemq_matcher_free(native) }
	return &TopicMatcher{newHandle(native, free)}, nil
}

// Close frees the matcher early.
func (m *TopicMatcher) Close() { m.handle.close() }

// Insert binds a value under a pattern; false when it already was.
func (m *TopicMatcher) Insert(pattern string, value uint64) (bool, error) {
	native, err := m.handle.acquire()
	if err != nil {
		return false, err
	}
	defer m.handle.release()
	var failure *C.AcemqError
	ptr, length := text(pattern)
	status := C.acemq_matcher_insert(native, ptr, length, C.uint64_t(value), &failure)
	if status < 0 {
		return false, taken(failure)
	}
	return status == C.ACEMQ_YES, nil
}

// Remove takes the binding of a value under a pattern out; false when there was none.
func (m *TopicMatcher) Remove(pattern string, value uint64) (bool, error) {
	native, err := m.handle.acquire()
	if err != nil {
		return false, err
	}
	defer m.handle.release()
	var failure *C.AcemqError
	ptr, length := text(pattern)
	status := C.acemq_matcher_remove(native, ptr, length, C.uint64_t(value), &failure)
	if status < 0 {
		return false, taken(failure)
	}
	return status == C.ACEMQ_YES, nil
}

// Len is the number of bindings.
func (m *TopicMatcher) Len() int {
	native, err := m.handle.acquire()
	if err != nil {
		return 0
	}
	defer m.handle.release()
	var count C.size_t
	C.acemq_matcher_count(native, &count, nil)
	return int(count)
}

// Matches are the values whose patterns match a key: ascending, each once.
func (m *TopicMatcher) Matches(key string) ([]uint64, error) {
	return m.AppendMatches(nil, key)
}

// AppendMatches appends the values whose patterns match a key to a slice, which spares its allocation when it has room.
func (m *TopicMatcher) AppendMatches(values []uint64, key string) ([]uint64, error) {
	native, err := m.handle.acquire()
	if err != nil {
		return values, err
	}
	defer m.handle.release()
	ptr, length := text(key)
	for {
		room := values[len(values):cap(values)]
		var found C.size_t
		var failure *C.AcemqError
		out := (*C.uint64_t)(unsafe.SliceData(room))
		if C.acemq_matcher_matches(native, ptr, length, out, C.size_t(len(room)), &found, &failure) < 0 {
			return values, taken(failure)
		}
		if int(found) <= len(room) {
			return values[:len(values)+int(found)], nil
		}
		values = append(make([]uint64, 0, len(values)+int(found)), values...)
	}
}

// Matched is what many keys matched.
type Matched struct {
	values []uint64
	ends   []uint64
}

// Len is the number of keys.
func (m *Matched) Len() int { return len(m.ends) }

// Of is what a key matched: ascending, each once. The slice is a part of one that all keys share.
func (m *Matched) Of(key int) []uint64 {
	start := uint64(0)
	if key > 0 {
		start = m.ends[key-1]
	}
	return m.values[start:m.ends[key]:m.ends[key]]
}

// All gives what each key matched, in the order of the keys.
func (m *Matched) All() iter.Seq2[int, []uint64] {
	return func(yield func(int, []uint64) bool) {
		for key := range m.ends {
			if !yield(key, m.Of(key)) {
				return
			}
		}
	}
}

// MatchesAll finds what each key matches, in one call.
func (m *TopicMatcher) MatchesAll(keys *Keys) (*Matched, error) {
	matched := &Matched{}
	return matched, m.MatchesAllInto(matched, keys)
}

// MatchesAllInto is MatchesAll with the memory of an earlier result.
func (m *TopicMatcher) MatchesAllInto(matched *Matched, keys *Keys) error {
	native, err := m.handle.acquire()
	if err != nil {
		return err
	}
	defer m.handle.release()
	if cap(matched.ends) < keys.Len() {
		matched.ends = make([]uint64, keys.Len())
	}
	matched.ends = matched.ends[:keys.Len()]
	if cap(matched.values) == 0 {
		matched.values = make([]uint64, 4*keys.Len())
	}
	bytes, length, offsets, count := keys.native()
	for {
		matched.values = matched.values[:cap(matched.values)]
		var found C.size_t
		var failure *C.AcemqError
		out, ends := (*C.uint64_t)(unsafe.SliceData(matched.values)), (*C.uint64_t)(unsafe.SliceData(matched.ends))
		room := C.size_t(len(matched.values))
		if C.acemq_matcher_matches_batch(native, bytes, length, offsets, count, out, room, ends, &found, &failure) < 0 {
			return taken(failure)
		}
		if found <= room {
			matched.values = matched.values[:found]
			return nil
		}
		matched.values = make([]uint64, found)
	}
}
