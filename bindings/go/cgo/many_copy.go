//go:build !go1.21

package gfsmith

// #include "bridge.h"
import "C"

// many copies the shards to one block of memory and back: before Go 1.21 memory cannot be pinned, so C cannot
// use an array of pointers to Go memory.
func many(call C.gfs_go_call, asked job, shards [][]byte) C.int {
	size := int(call.len)
	flat := make([]byte, size*len(shards))
	for n, shard := range shards {
		copy(flat[n*size:], shard)
	}
	status := C.gfs_go_flat(call, flags(asked.present), flags(asked.wanted), C.uint(len(shards)), (*C.uint8_t)(&flat[0]))
	for n, shard := range shards {
		if n >= asked.first || asked.wanted != nil && asked.wanted[n] {
			copy(shard, flat[n*size:])
		}
	}
	return status
}
