// Package gfsmith provides erasure coding over GF(2^8) with kernels whose machine code is proved: gfsmith's C
// library, through cgo. It has every code and instruction set of that library, on every architecture.
//
// `gfsmith export` writes gfsmith.c and gfsmith.h; only a C compiler is needed in addition.
package gfsmith

//go:generate gfsmith export --form amalgamation -c ../gfsmith.toml -o .

/*
#include <stdlib.h>
#include "bridge.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"

	"gfsmith.example/go/codec"
)

// Codec is a code at a shape; package codec has its methods.
type Codec = codec.Codec

// Code is the name of a code that gfsmith.h lists, such as "lch".
type Code = codec.Code

// The codes that both packages have at every shape.
const (
	Cauchy      = codec.Cauchy
	Vandermonde = codec.Vandermonde
	Backblaze   = codec.Backblaze
)

// New creates a codec with k data and m parity shards.
func New(code Code, k, m int) (*Codec, error) {
	if err := codec.CheckShape(k, m); err != nil {
		return nil, err
	}
	name := C.CString(string(code))
	defer C.free(unsafe.Pointer(name))
	var made *C.gfsmith_codec
	switch status := C.gfsmith_codec_create(&made, name, C.uint(k), C.uint(m)); status {
	case C.GFSMITH_OK:
		return own(made, k, m), nil
	case C.GFSMITH_EINVAL:
		return nil, fmt.Errorf("%w: code %q at %d+%d", codec.ErrUnsupported, code, k, m)
	default:
		return nil, fmt.Errorf("%w: %s %d+%d", failure(C.int(status)), code, k, m)
	}
}

// NewMatrix creates a codec with any parity matrix over GF(2^8) modulo 0x11d: m rows of k elements. The matrix
// is copied.
func NewMatrix(parity [][]byte) (*Codec, error) {
	flat, k, err := codec.Flatten(parity)
	if err != nil {
		return nil, err
	}
	var made *C.gfsmith_codec
	status := C.gfsmith_codec_create_matrix(&made, C.GFSMITH_POLYNOMIAL, C.uint(k), C.uint(len(parity)),
		(*C.uint8_t)(&flat[0]))
	if status != C.GFSMITH_OK {
		return nil, failure(C.int(status))
	}
	return own(made, k, len(parity)), nil
}

// VerifyKernels compares the kernels in this program with the digests of the proved machine code. It returns the number
// of kernels that are equal and the number of those that a compiler translated, which have no digest. The error names
// the first kernel that differs.
func VerifyKernels() (compared, compiled int, err error) {
	var equal, others C.uint
	if different := C.gfsmith_check_kernels(&equal, &others); different != nil {
		err = fmt.Errorf("gfsmith: %s: its machine code is not the proved one", C.GoString(different))
	}
	return int(equal), int(others), err
}

// ISA returns the instruction set of codecs created from now on: the last choice of SetISA; before that the one
// that the environment variable GFSMITH_ISA names, else the best.
func ISA() string { return C.GoString(C.gfsmith_isa()) }

// SetISA chooses the instruction set of codecs created from now on; existing codecs keep theirs.
func SetISA(name string) error {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	if status := C.gfsmith_set_isa(text); status != C.GFSMITH_OK {
		return fmt.Errorf("%w: instruction set %q", codec.ErrUnsupported, name)
	}
	return nil
}

// failure returns the error for a status.
func failure(status C.int) error {
	switch status {
	case C.GFSMITH_OK:
		return nil
	case C.GFSMITH_ENOTMDS:
		return codec.ErrNotMDS
	case C.GFSMITH_ETOOMANY:
		return codec.ErrTooFewShards
	case C.GFSMITH_ESINGULAR:
		return codec.ErrSingular
	case C.GFSMITH_EUNSUPPORTED:
		return codec.ErrUnsupported
	}
	return fmt.Errorf("gfsmith: %s", C.GoString(C.gfsmith_strerror(C.gfsmith_status(status))))
}

// engine is a codec of the library.
type engine struct {
	codec *C.gfsmith_codec
	k, m  int
}

func own(made *C.gfsmith_codec, k, m int) *Codec {
	e := &engine{made, k, m}
	runtime.SetFinalizer(e, func(e *engine) { C.gfsmith_codec_destroy(e.codec) })
	return codec.New(e, k, m)
}

func (e *engine) Encode(data, parity [][]byte) error {
	return failure(e.run(job{operation: C.GFS_GO_ENCODE, first: e.k}, data, parity))
}

func (e *engine) Add(index int, shard []byte, parity [][]byte) error {
	return failure(e.run(job{operation: C.GFS_GO_ADD, index: index, first: 1}, [][]byte{shard}, parity))
}

func (e *engine) Change(index int, old, new []byte, parity [][]byte) error {
	return failure(e.run(job{operation: C.GFS_GO_CHANGE, index: index, first: 2}, [][]byte{old, new}, parity))
}

func (e *engine) Verify(shards [][]byte) (bool, error) {
	status := e.run(job{operation: C.GFS_GO_VERIFY, first: len(shards)}, shards[:e.k], shards[e.k:])
	if status == C.GFS_GO_DIFFERENT {
		return false, nil
	}
	return status == C.GFSMITH_OK, failure(status)
}

func (e *engine) Rebuild(shards [][]byte, present, wanted []bool) error {
	asked := job{operation: C.GFS_GO_REBUILD, first: len(shards), present: present, wanted: wanted}
	return failure(e.run(asked, shards[:e.k], shards[e.k:]))
}
