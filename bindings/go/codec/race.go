//go:build race

package codec

import (
	"runtime"
	"unsafe"
)

// The race detector does not observe the accesses of machine code, so they are reported to it.

// ReadRange reports that shards are read.
func ReadRange(shards [][]byte) {
	for _, shard := range shards {
		if len(shard) > 0 {
			runtime.RaceReadRange(unsafe.Pointer(&shard[0]), len(shard))
		}
	}
}

// WriteRange reports that shards are written.
func WriteRange(shards [][]byte) {
	for _, shard := range shards {
		if len(shard) > 0 {
			runtime.RaceWriteRange(unsafe.Pointer(&shard[0]), len(shard))
		}
	}
}
