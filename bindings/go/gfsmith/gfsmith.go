// Package gfsmith provides erasure coding over GF(2^8) with kernels whose machine code is proved, without cgo.
//
// `gfsmith export --form go` writes the kernels in internal/kernels: for amd64, on every system, the same bytes
// as in the C library, and for arm64. On other architectures, and with the build tag purego, a portable kernel in Go is
// used.
// All of them take time that depends on lengths and the shape only, never on data. Correct also decodes in Go, in time
// that depends on the errors.
package gfsmith

//go:generate gfsmith export --form go -c ../gfsmith.toml -o internal/kernels

import (
	"bytes"
	"sync"

	"gfsmith.example/go/codec"
	"gfsmith.example/go/gfsmith/internal/kernels"
	"gfsmith.example/go/gfsmith/internal/linear"
)

// Codec is a code at a shape; package codec has its methods.
type Codec = codec.Codec

// Code is the name of a code.
type Code = codec.Code

// The codes with a formula in this package. Others, such as "lch", are available at the shapes for which
// kernels with their matrix were generated.
const (
	Cauchy      = codec.Cauchy
	Vandermonde = codec.Vandermonde
	Backblaze   = codec.Backblaze
)

// New creates a codec with k data and m parity shards. Its parities equal those of the C library byte for byte.
func New(code Code, k, m int) (*Codec, error) {
	if err := codec.CheckShape(k, m); err != nil {
		return nil, err
	}
	rows, err := matrixOf(code, k, m)
	if err != nil {
		return nil, err
	}
	return codec.New(newEngine(rows), k, m), nil
}

// NewMatrix creates a codec with any parity matrix over GF(2^8) modulo 0x11d: m rows of k elements. The matrix
// is copied.
func NewMatrix(parity [][]byte) (*Codec, error) {
	flat, k, err := codec.Flatten(parity)
	if err != nil {
		return nil, err
	}
	rows := make([][]byte, len(parity))
	for i := range rows {
		rows[i] = flat[i*k:][:k]
	}
	return codec.New(newEngine(rows), k, len(rows)), nil
}

// engine holds a parity matrix and its kernels.
type engine struct {
	linear.Code
	encode  *linear.Map
	columns []*linear.Map // one for each data shard
	repairs linear.Repairs
	scratch sync.Pool // *[]byte, m + 1 buffers of checkBytes
}

// checkBytes is the number of bytes of every parity, or of a difference, that is computed at once in a
// temporary buffer.
const checkBytes = 8 << 10

func newEngine(rows [][]byte) *engine {
	e := &engine{Code: linear.Code{Set: int(chosen()), K: len(rows[0]), Parity: rows}}
	e.encode = e.Map(kernels.Dot, rows)
	for j := range rows[0] {
		column := make([][]byte, len(rows))
		for i := range rows {
			column[i] = rows[i][j : j+1]
		}
		e.columns = append(e.columns, e.Map(kernels.Mad, column))
	}
	e.scratch.New = func() any {
		room := make([]byte, (len(rows)+1)*checkBytes)
		return &room
	}
	return e
}

func (e *engine) Encode(data, parity [][]byte) error {
	e.encode.Apply(data, parity, 0, len(parity[0]))
	return nil
}

func (e *engine) Add(index int, shard []byte, parity [][]byte) error {
	e.columns[index].Apply([][]byte{shard}, parity, 0, len(shard))
	return nil
}

// Change works piece by piece, so that the difference stays in cache.
func (e *engine) Change(index int, old, new []byte, parity [][]byte) error {
	room := e.scratch.Get().(*[]byte)
	defer e.scratch.Put(room)
	pieces := make([][]byte, len(parity))
	for at := 0; at < len(old); at += checkBytes {
		end := min(at+checkBytes, len(old))
		delta := (*room)[:end-at]
		linear.Xor(e.Set, delta, old[at:end], new[at:end])
		for i := range parity {
			pieces[i] = parity[i][at:end]
		}
		e.columns[index].Apply([][]byte{delta}, pieces, 0, len(delta))
	}
	return nil
}

func (e *engine) Verify(shards [][]byte) (bool, error) {
	room := e.scratch.Get().(*[]byte)
	defer e.scratch.Put(room)
	k, length := e.K, len(shards[0])
	pieces, computed := make([][]byte, k), make([][]byte, len(e.Parity))
	for at := 0; at < length; at += checkBytes {
		end := min(at+checkBytes, length)
		for j := range pieces {
			pieces[j] = shards[j][at:end]
		}
		for i := range computed {
			computed[i] = (*room)[i*checkBytes:][:end-at]
		}
		e.encode.Apply(pieces, computed, 0, end-at)
		for i := range computed {
			if !bytes.Equal(computed[i], shards[k+i][at:end]) {
				return false, nil
			}
		}
	}
	return true, nil
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}
