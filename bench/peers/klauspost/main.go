// Package main is klauspost/reedsolomon as a peer: a C shared library with peer_open, peer_run and
// peer_close. The loop over stripes is in Go, so calls from C do not count.
package main

/*
#cgo CFLAGS: -I../../driver -I../../checksums
#include "checksum_peer.h"
#include "peer.h"
*/
import "C"

import (
	"hash/crc32"
	"runtime/cgo"
	"strings"
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
	case "serial", "checksums":
		return []reedsolomon.Option{
			reedsolomon.WithMaxGoroutines(1), reedsolomon.WithCustomMatrix(rows(spec)),
		}
	case "parallel":
		return []reedsolomon.Option{
			reedsolomon.WithMaxGoroutines(2), reedsolomon.WithMinSplitSize(64),
			reedsolomon.WithCustomMatrix(rows(spec)),
		}
	case "leopard", "leopard 2":
		goroutines := map[string]int{"leopard": 1, "leopard 2": 2}[C.GoString(spec.variant)]
		return []reedsolomon.Option{
			reedsolomon.WithMaxGoroutines(goroutines), reedsolomon.WithLeopardGF(true),
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
	if strings.HasPrefix(C.GoString(spec.variant), "leopard") && spec.len%64 != 0 {
		return reason("lengths are multiples of 64 bytes")
	}
	encoder, err := reedsolomon.New(int(spec.k), int(spec.m), chosen...)
	if err != nil {
		return reason(err.Error())
	}
	if C.GoString(spec.variant) == "checksums" {
		encoder = &checksummed{encoder, make([]uint32, int(spec.k+spec.m))}
	}
	*(*uintptr)(unsafe.Pointer(out)) = uintptr(cgo.NewHandle(encoder))
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksummed computes the CRC-32C of every shard after encoding.
type checksummed struct {
	reedsolomon.Encoder
	sums []uint32
}

func (c *checksummed) Encode(shards [][]byte) error {
	if err := c.Encoder.Encode(shards); err != nil {
		return err
	}
	for i, shard := range shards {
		c.sums[i] = crc32.Checksum(shard, castagnoli)
	}
	return nil
}

// peer_sums writes the checksums of the last stripe.
//
//export peer_sums
func peer_sums(peer unsafe.Pointer, sums *C.uint64_t) {
	c := cgo.Handle(uintptr(peer)).Value().(*checksummed)
	for i, sum := range c.sums {
		unsafe.Slice(sums, len(c.sums))[i] = C.uint64_t(sum)
	}
}

// sum_go is a checksum_sum_fn of CRC-32C (check 0) and CRC-32.
//
//export sum_go
func sum_go(check C.uint, buffers *C.checksum_buffers) C.uint64_t {
	table, sum := crc32.IEEETable, uint32(0)
	if check == 0 {
		table = castagnoli
	}
	for _, n := range unsafe.Slice(buffers.order, buffers.count) {
		at := unsafe.Add(unsafe.Pointer(buffers.base), uintptr(n)*uintptr(buffers.pitch))
		sum ^= crc32.Checksum(unsafe.Slice((*byte)(at), buffers.len), table)
	}
	return C.uint64_t(sum)
}

// point sets slices to the shards of a stripe.
func point(shards [][]byte, job *C.bench_job, stripe uintptr) {
	length, pitch := int(job.len), uintptr(job.pitch)
	at := unsafe.Add(unsafe.Pointer(job.base), stripe*uintptr(len(shards))*pitch)
	for i := range shards {
		shards[i] = unsafe.Slice((*byte)(unsafe.Add(at, uintptr(i)*pitch)), length)
	}
}

//export peer_run
func peer_run(peer unsafe.Pointer, job *C.bench_job) {
	encoder := cgo.Handle(uintptr(peer)).Value().(reedsolomon.Encoder)
	shards := make([][]byte, int(job.k+job.m))
	for n := 0; n < int(job.count); n++ {
		stripe := uintptr(0)
		if job.order != nil {
			stripe = uintptr(unsafe.Slice(job.order, job.count)[n])
		}
		if job.order != nil || n == 0 {
			point(shards, job, stripe)
		}
		if err := encoder.Encode(shards); err != nil {
			panic(err)
		}
	}
}

//export peer_repair
func peer_repair(peer unsafe.Pointer, job *C.bench_job, present *C.uint8_t) {
	encoder := cgo.Handle(uintptr(peer)).Value().(reedsolomon.Encoder)
	shards := make([][]byte, int(job.k+job.m))
	flags := unsafe.Slice((*byte)(present), len(shards))
	for n := 0; n < int(job.count); n++ {
		point(shards, job, 0)
		for i := range shards {
			if flags[i] == 0 {
				shards[i] = shards[i][:0]
			}
		}
		if err := encoder.ReconstructData(shards); err != nil {
			panic(err)
		}
	}
}

//export peer_close
func peer_close(peer unsafe.Pointer) {
	cgo.Handle(uintptr(peer)).Delete()
}

func main() {}
