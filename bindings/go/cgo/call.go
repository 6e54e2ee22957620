package gfsmith

// #include "bridge.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// job is one call of the library, without its shards. Shards from `first` on are written if they are wanted.
type job struct {
	operation       C.gfs_go_operation
	index, first    int
	counts          *C.size_t
	sums            *C.gfs_go_sums
	present, wanted []bool
}

// flags converts flags to C, which reads them during the call only.
func flags(of []bool) *C.bool {
	if of == nil {
		return nil
	}
	return (*C.bool)(unsafe.Pointer(&of[0]))
}

// pointer returns the address of a shard, nil for an empty one.
func pointer(shard []byte) *C.uint8_t {
	if len(shard) == 0 {
		return nil
	}
	return (*C.uint8_t)(&shard[0])
}

// run calls the library with sources and targets, in this order. Up to a fixed number of shards are passed as
// arguments of a C function, which is cheap and valid with every version of Go; more are passed by `many`.
func (e *engine) run(asked job, sources, targets [][]byte) C.int {
	defer runtime.KeepAlive(e)
	call := C.gfs_go_call{
		operation: asked.operation,
		codec:     e.codec,
		len:       C.size_t(length(sources, targets)),
		k:         C.uint(e.k),
		m:         C.uint(e.m),
		index:     C.uint(asked.index),
		counts:    asked.counts,
		sums:      asked.sums,
	}
	if len(sources)+len(targets) > C.GFS_GO_FEW {
		return many(call, asked, append(append([][]byte(nil), sources...), targets...))
	}
	var p [C.GFS_GO_FEW]*C.uint8_t
	for n, shard := range sources {
		p[n] = pointer(shard)
	}
	for n, shard := range targets {
		p[len(sources)+n] = pointer(shard)
	}
	return C.gfs_go_few(call, flags(asked.present), flags(asked.wanted),
		p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7],
		p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15],
		p[16], p[17], p[18], p[19], p[20], p[21], p[22], p[23],
		p[24], p[25], p[26], p[27], p[28], p[29], p[30], p[31])
}

// length returns the length of the first shard that is not missing.
func length(sources, targets [][]byte) int {
	for _, shards := range [][][]byte{sources, targets} {
		for _, shard := range shards {
			if len(shard) != 0 {
				return len(shard)
			}
		}
	}
	return 0
}
