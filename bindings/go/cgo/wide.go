package gfsmith

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

// WideCode is the name of a code with up to MaxWideShards shards.
type WideCode string

// Leopard's codes are byte for byte those of klauspost/reedsolomon.
const (
	Leopard8        WideCode = "leopard8"          // GF(2^8): WithLeopardGF(true) with at most 256 shards
	Leopard16       WideCode = "leopard16"         // GF(2^16): WithLeopardGF16(true)
	ReedSolomonSIMD WideCode = "reed_solomon_simd" // GF(2^16): the crate reed-solomon-simd 3
	LCH16           WideCode = "lch16"             // the same for little-endian words one after the other, as in JAM
)

// MaxWideShards is the maximum number of shards of a Wide, data and parities together.
const MaxWideShards = C.GFSMITH_WIDE_MAX_SHARDS

// Wide is a code with a shape, k data and m parity shards, any k of which determine the others. Let w[0], w[1], ... be the
// elements of the field, numbered by their coordinates in Cantor's basis, and n the least power of two that is not less
// than m. Data shard j has the point w[n+j]. Each block of n points determines a polynomial of degree below n, with the
// value 0 at points behind the data, and parity i is the sum of their values at w[i]. In ReedSolomonSIMD and LCH16, if the
// least power of two that is not less than k is less than n, it takes the place of n: data shard j has the point w[j], and
// parity i is the value of their polynomial at w[n+i].
//
// Shards are those of a Codec, but their length is a multiple of ShardSizeMultiple, else the error is ErrShardSize.
// Goroutines may share it. The memory for the work of a call does not grow with the length of the shards.
type Wide struct {
	codec   *codec.Codec
	granule int
}

// NewWide creates a code. It exists if k and m are 1 or more and at most MaxWideShards together, and n + k is at most 256
// (Leopard8) or 65,536 (Leopard16), or n, plus k or m, whichever is larger, at most 65,536 (the others). Other shapes give
// ErrInvShardNum, other names ErrUnsupported.
func NewWide(code WideCode, k, m int) (*Wide, error) {
	name := C.CString(string(code))
	defer C.free(unsafe.Pointer(name))
	granule := int(C.gfsmith_wide_granule(name))
	if granule == 0 {
		return nil, fmt.Errorf("%w: code %q; allowed: %s, %s, %s, %s",
			codec.ErrUnsupported, code, Leopard8, Leopard16, ReedSolomonSIMD, LCH16)
	}
	shape := fmt.Errorf("%w: %s %d+%d; allowed: %s",
		codec.ErrInvShardNum, code, k, m, C.GoString(C.gfsmith_wide_shapes(name)))
	if k < 1 || m < 1 || k > MaxWideShards || m > MaxWideShards-k {
		return nil, shape
	}
	var made *C.gfsmith_wide
	switch status := C.gfsmith_wide_create(&made, name, C.uint(k), C.uint(m)); status {
	case C.GFSMITH_OK:
	case C.GFSMITH_EINVAL:
		return nil, shape
	default:
		return nil, failure(C.int(status))
	}
	e := &wideEngine{wide: made, k: k, m: m, granule: granule}
	runtime.SetFinalizer(e, func(e *wideEngine) { C.gfsmith_wide_destroy(e.wide) })
	return &Wide{codec.New(e, k, m), granule}, nil
}

// DataShards returns k.
func (w *Wide) DataShards() int { return w.codec.DataShards() }

// ParityShards returns m.
func (w *Wide) ParityShards() int { return w.codec.ParityShards() }

// TotalShards returns k + m.
func (w *Wide) TotalShards() int { return w.codec.TotalShards() }

// ShardSizeMultiple returns 64 for Leopard's codes and 2 for the others.
func (w *Wide) ShardSizeMultiple() int { return w.granule }

// WithGoroutines returns a code whose long calls are shared by goroutines, as those of a Codec: WithGoroutines of package
// codec. Each goroutine needs memory for its work.
func (w *Wide) WithGoroutines(most int) *Wide { return &Wide{w.codec.WithGoroutines(most), w.granule} }

// Encode computes the parities, shards k to k + m - 1, of the data, shards 0 to k - 1.
func (w *Wide) Encode(shards [][]byte) error { return w.codec.Encode(shards) }

// Reconstruct rebuilds the missing shards (nil or empty), data and parities alike. An empty one with sufficient
// capacity is rebuilt in place. A call that fails leaves the shards unchanged.
func (w *Wide) Reconstruct(shards [][]byte) error { return w.codec.Reconstruct(shards) }

// ReconstructData rebuilds the missing data shards only.
func (w *Wide) ReconstructData(shards [][]byte) error { return w.codec.ReconstructData(shards) }

// ReconstructSome rebuilds the required ones of the missing shards. required: k + m flags, or k for the data
// shards only.
func (w *Wide) ReconstructSome(shards [][]byte, required []bool) error {
	return w.codec.ReconstructSome(shards, required)
}

// EncodeStripes is Encode for any number of stripes: k + m shards of the first stripe, then those of the next one, and so
// on; all of the same length. If they are at equal distances in one buffer, stripes of short shards share the work.
func (w *Wide) EncodeStripes(shards [][]byte) error { return w.codec.EncodeStripes(shards) }

// ReconstructStripes is Reconstruct for any number of stripes, which all miss the same shards, else the error is
// ErrStripesDiffer.
func (w *Wide) ReconstructStripes(shards [][]byte) error { return w.codec.ReconstructStripes(shards) }

// wideEngine is a wide code of the library. Wide calls only the methods of the interface that it has.
type wideEngine struct {
	codec.Batch
	wide          *C.gfsmith_wide
	k, m, granule int
}

func (e *wideEngine) Encode(data, parity [][]byte) error {
	return e.run(job{operation: C.GFS_GO_WIDE_ENCODE, first: e.k}, append(append([][]byte(nil), data...), parity...))
}

func (e *wideEngine) Rebuild(shards [][]byte, present, wanted []bool) error {
	return e.run(job{operation: C.GFS_GO_WIDE_REBUILD, first: len(shards), present: present, wanted: wanted}, shards)
}

// Unit returns the bytes at whose multiples calls may be divided.
func (e *wideEngine) Unit() int { return C.GFSMITH_WIDE_GRANULE }

func (e *wideEngine) EncodeStripes(length, count int, data, parity codec.Grid) error {
	defer runtime.KeepAlive(e)
	if err := e.whole(length); err != nil {
		return err
	}
	return failure(C.gfs_go_wide_encode(e.wide, C.size_t(length), C.size_t(count),
		base(data), place(data, e.k), base(parity), place(parity, e.m)))
}

func (e *wideEngine) RebuildStripes(length, count int, shards codec.Grid, present, wanted []bool) error {
	defer runtime.KeepAlive(e)
	if err := e.whole(length); err != nil {
		return err
	}
	return failure(C.gfs_go_wide_rebuild(e.wide, C.size_t(length), C.size_t(count),
		base(shards), place(shards, e.k+e.m), flags(present), flags(wanted)))
}

// whole returns nil for a length that the code has.
func (e *wideEngine) whole(length int) error {
	if length%e.granule != 0 {
		return fmt.Errorf("%w: %d bytes; allowed: multiples of %d", codec.ErrShardSize, length, e.granule)
	}
	return nil
}

func (e *wideEngine) run(asked job, shards [][]byte) error {
	defer runtime.KeepAlive(e)
	size := length(shards, nil)
	if err := e.whole(size); err != nil {
		return err
	}
	call := C.gfs_go_call{
		operation: asked.operation,
		wide:      e.wide,
		len:       C.size_t(size),
		k:         C.uint(e.k),
		m:         C.uint(e.m),
	}
	return failure(many(call, asked, shards))
}
