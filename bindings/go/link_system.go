//go:build acemq_system

package acemq

// With the build tag acemq_system the installed library is used, as pkg-config finds it.

// #cgo pkg-config: acemq
import "C"
