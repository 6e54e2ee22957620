// Package main is klauspost/reedsolomon as a peer: a C shared library with peer_open, peer_run and
// peer_close. The loop over stripes is in Go, so calls from C do not count.
package main

/*
#cgo CFLAGS: -I../../driver
#include "peer.h"
*/
import "C"

import (
	"runtime/cgo"
	"unsafe"

	"github.com/klauspost/reedsolomon"
)

var reasons = map[string]*C.char{}

// reason copies an error's text to memory outside of Go's heap, once for each text.
func reason(text string) *C.char {
	if _, known := reasons[text]; !known {
		reasons[text] = C.CString(text)
	}
	return reasons[text]
}

func rows(spec *C.bench_spec) [][]byte {
	k, m := int(spec.k), int(spec.m)
	flat := C.GoBytes(unsafe.Pointer(spec.matrix), C.int(k*m))
	matrix := make([][]byte, m)
	for i := range matrix {
		matrix[i] = flat[i*k : (i+1)*k]
	}
	return matrix
}

func options(spec *C.bench_spec) []reedsolomon.Option {
	switch C.GoString(spec.variant) {
	case "serial":
		return []reedsolomon.Option{
			reedsolomon.WithMaxGoroutines(1), reedsolomon.WithCustomMatrix(rows(spec)),
		}
	case "parallel":
		return []reedsolomon.Option{
			reedsolomon.WithMaxGoroutines(2), reedsolomon.WithMinSplitSize(64),
			reedsolomon.WithCustomMatrix(rows(spec)),
		}
	case "leopard":
		return []reedsolomon.Option{
			reedsolomon.WithMaxGoroutines(1), reedsolomon.WithLeopardGF(true),
		}
	}
	return nil
}

//export peer_open
func peer_open(out *unsafe.Pointer, spec *C.bench_spec) *C.char {
	chosen := options(spec)
	if chosen == nil {
		return reason("no such variant")
	}
	if C.GoString(spec.variant) == "leopard" && spec.len%64 != 0 {
		return reason("lengths are multiples of 64 bytes")
	}
	encoder, err := reedsolomon.New(int(spec.k), int(spec.m), chosen...)
	if err != nil {
		return reason(err.Error())
	}
	*(*uintptr)(unsafe.Pointer(out)) = uintptr(cgo.NewHandle(encoder))
	return nil
}

//export peer_run
func peer_run(peer unsafe.Pointer, job *C.bench_job) {
	encoder := cgo.Handle(uintptr(peer)).Value().(reedsolomon.Encoder)
	total, length, pitch := int(job.k+job.m), int(job.len), uintptr(job.pitch)
	shards := make([][]byte, total)
	for n := 0; n < int(job.count); n++ {
		stripe := uintptr(0)
		if job.order != nil {
			stripe = uintptr(unsafe.Slice(job.order, job.count)[n])
		}
		if job.order != nil || n == 0 {
			at := unsafe.Add(unsafe.Pointer(job.base), stripe*uintptr(total)*pitch)
			for i := range shards {
				shards[i] = unsafe.Slice((*byte)(unsafe.Add(at, uintptr(i)*pitch)), length)
			}
		}
		if err := encoder.Encode(shards); err != nil {
			panic(err)
		}
	}
}

//export peer_close
func peer_close(peer unsafe.Pointer) {
	cgo.Handle(uintptr(peer)).Delete()
}

func main() {}
