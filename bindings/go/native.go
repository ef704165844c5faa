package acemq

/*
#cgo CFLAGS: -I${SRCDIR}/include
#cgo nocallback acemq_call
#cgo noescape acemq_call
#include <acemq.h>
*/
import "C"

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

func init() {
	found := uint32(C.acemq_abi_version())
	if found>>16 != C.ACEMQ_ABI_MAJOR || found&0xffff < C.ACEMQ_ABI_MINOR {
		panic(fmt.Sprintf("acemq: this package needs libacemq with version %d.%d of the ABI or a later %d.x, and was linked with "+
			"one of version %d.%d (engine %s): build the library that belongs to the package",
			C.ACEMQ_ABI_MAJOR, C.ACEMQ_ABI_MINOR, C.ACEMQ_ABI_MAJOR, found>>16, found&0xffff, Version()))
	}
}

// Version is the version of the engine, as in "0.1.0".
func Version() string { return C.GoString(C.acemq_engine_version()) }

// ABIVersion is the version of the native library's ABI: the major version in the upper 16 bits, the minor one in the lower.
func ABIVersion() uint32 { return uint32(C.acemq_abi_version()) }

// SpecVersion is the version of the conformance suites that the engine passes.
func SpecVersion() int { return int(C.acemq_spec_version()) }

// CallJSON runs one operation of the engine's table: JSON in, JSON out. It fails with an [*Error].
func CallJSON(operation string, input []byte) ([]byte, error) {
	var output C.AcemqBuffer
	var failure *C.AcemqError
	name, nameLen := text(operation)
	in := (*C.uint8_t)(unsafe.SliceData(input))
	status := C.acemq_call(name, nameLen, in, C.size_t(len(input)), &output, &failure)
	if status < 0 {
		return nil, taken(failure)
	}
	return takenBytes(&output), nil
}

// Call runs one operation of the engine's table. The input is what [json.Marshal] makes an object of; the output goes where
// [json.Unmarshal] puts it, and nowhere when it is nil. The typed functions of this package do the same for one operation
// each.
func Call(operation string, input, output any) error {
	encoded, err := encode(input)
	if err != nil {
		return err
	}
	answer, err := CallJSON(operation, encoded)
	if err != nil || output == nil {
		return err
	}
	return decode(answer, output)
}

// Operation is a row of the engine's table.
type Operation struct {
	Name  string   `json:"name"`
	About string   `json:"about"`
	Codes []string `json:"codes"`
	// JSON Schemas.
	Input  json.RawMessage `json:"input"`
	Output json.RawMessage `json:"output"`
}

// Operations is the engine's table, sorted by name.
func Operations() ([]Operation, error) {
	var output C.AcemqBuffer
	var failure *C.AcemqError
	if C.acemq_operations(&output, &failure) < 0 {
		return nil, taken(failure)
	}
	var operations []Operation
	return operations, decode(takenBytes(&output), &operations)
}

// encode writes JSON. Text that is no UTF-8 is refused: json.Marshal would change it without a word.
func encode(value any) ([]byte, error) {
	if err := checkUTF8(value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// decode reads JSON; whole numbers in values of any type stay exact.
func decode(data []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(value)
}

// text is a string's own memory: it is read during a call only, so nothing is copied.
func text(s string) (*C.uint8_t, C.size_t) {
	return (*C.uint8_t)(unsafe.StringData(s)), C.size_t(len(s))
}

func borrowed(bytes C.AcemqBytes) string {
	return string(unsafe.Slice((*byte)(bytes.ptr), int(bytes.len)))
}

func takenBytes(buffer *C.AcemqBuffer) []byte {
	copied := bytes.Clone(unsafe.Slice((*byte)(buffer.ptr), int(buffer.len)))
	C.acemq_buffer_free(buffer)
	return copied
}

func takenText(buffer *C.AcemqBuffer) string {
	copied := string(unsafe.Slice((*byte)(buffer.ptr), int(buffer.len)))
	C.acemq_buffer_free(buffer)
	return copied
}

// handle is something of the library's, P is a pointer to it. It is freed by close, or else when nobody holds it any more.
// Calls hold the lock for reading, so that close waits for those under way and later ones are refused.
type handle[P any] struct {
	mutex   sync.RWMutex
	native  P
	closed  bool
	free    func(P)
	cleanup runtime.Cleanup
}

func newHandle[P any](native P, free func(P)) *handle[P] {
	h := &handle[P]{native: native, free: free}
	h.cleanup = runtime.AddCleanup(h, free, native)
	return h
}

// acquire keeps the handle from being freed until release.
func (h *handle[P]) acquire() (P, error) {
	h.mutex.RLock()
	if h.closed {
		h.mutex.RUnlock()
		var none P
		return none, ErrClosed
	}
	return h.native, nil
}

func (h *handle[P]) release() {
	h.mutex.RUnlock()
	runtime.KeepAlive(h)
}

func (h *handle[P]) close() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if !h.closed {
		h.closed = true
		h.cleanup.Stop()
		h.free(h.native)
	}
}
