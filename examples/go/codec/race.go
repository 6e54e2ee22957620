//go:build race

package codec

import (
	"runtime"
	"unsafe"
)

// The race detector does not see what machine code reads and writes: it is told.

func readRange(shards [][]byte) {
	for _, shard := range shards {
		if len(shard) > 0 {
			runtime.RaceReadRange(unsafe.Pointer(&shard[0]), len(shard))
		}
	}
}

func writeRange(shards [][]byte) {
	for _, shard := range shards {
		if len(shard) > 0 {
			runtime.RaceWriteRange(unsafe.Pointer(&shard[0]), len(shard))
		}
	}
}
