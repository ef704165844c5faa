//go:build !acemq_system

package acemq

// The library is linked in, so that a program needs no file beside it. build.sh puts it where these lines look for it.

/*
#cgo linux,amd64 LDFLAGS: ${SRCDIR}/lib/linux_amd64/libacemq.a -lpthread -ldl -lm
#cgo linux,arm64 LDFLAGS: ${SRCDIR}/lib/linux_arm64/libacemq.a -lpthread -ldl -lm
#cgo darwin,amd64 LDFLAGS: ${SRCDIR}/lib/darwin_amd64/libacemq.a
#cgo darwin,arm64 LDFLAGS: ${SRCDIR}/lib/darwin_arm64/libacemq.a
*/
import "C"
