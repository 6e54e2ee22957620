package gfsmith

// #include "bridge.h"
import "C"

import (
	"runtime"

	"gfsmith.example/go/codec"
)

// The calls on many stripes pass one pointer to each allocation, which is valid with every version of Go.
var _ codec.Batch = (*engine)(nil)

func base(g codec.Grid) *C.uint8_t { return (*C.uint8_t)(g.First) }

func stride(g codec.Grid) C.gfsmith_stride {
	return C.gfsmith_stride{shard: C.size_t(g.Shard), stripe: C.size_t(g.Stripe)}
}

func place(g codec.Grid, shards int) C.gfs_go_grid {
	return C.gfs_go_grid{shards: C.uint(shards), stride: stride(g)}
}

func (e *engine) EncodeStripes(length, count int, data, parity codec.Grid) error {
	defer runtime.KeepAlive(e)
	return failure(C.int(C.gfsmith_encode_strided(e.codec, C.size_t(length), C.size_t(count),
		base(data), stride(data), base(parity), stride(parity))))
}

func (e *engine) AddStripes(length int, indices []int, shards, parity codec.Grid) error {
	defer runtime.KeepAlive(e)
	which := make([]C.uint, len(indices))
	for s, index := range indices {
		which[s] = C.uint(index)
	}
	return failure(C.int(C.gfsmith_update_strided(e.codec, C.size_t(length), C.size_t(len(indices)), &which[0],
		base(shards), C.size_t(shards.Stripe), base(parity), stride(parity))))
}

func (e *engine) VerifyStripes(length int, shards codec.Grid, same []bool) error {
	defer runtime.KeepAlive(e)
	return failure(C.int(C.gfsmith_check_strided(e.codec, C.size_t(length), C.size_t(len(same)),
		base(shards), stride(shards), flags(same))))
}

func (e *engine) RebuildStripes(length, count int, shards codec.Grid, present, wanted []bool) error {
	defer runtime.KeepAlive(e)
	return failure(C.int(C.gfsmith_reconstruct_strided(e.codec, C.size_t(length), C.size_t(count),
		base(shards), stride(shards), flags(present), flags(wanted))))
}
