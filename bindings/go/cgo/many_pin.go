//go:build go1.21

package gfsmith

// #include "bridge.h"
import "C"

import "runtime"

// many passes an array of pointers to C; the shards are pinned during the call.
func many(call C.gfs_go_call, asked job, shards [][]byte) C.int {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pointers := make([]*C.uint8_t, len(shards))
	for n, shard := range shards {
		if pointers[n] = pointer(shard); pointers[n] != nil {
			pinner.Pin(pointers[n])
		}
	}
	return C.gfs_go_many(call, flags(asked.present), flags(asked.wanted), &pointers[0])
}
