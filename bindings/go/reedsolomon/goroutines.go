package reedsolomon

import (
	"runtime"

	"github.com/klauspost/reedsolomon/internal/codec"
	"github.com/klauspost/reedsolomon/internal/linear"
)

// The least numbers of bytes of all shards of a call in several goroutines, and for each of them, if WithMinSplitSize is
// not used: fewer take less time than waking another thread and fetching shards from the cache of another core.
const (
	sharedBytes    = 4 << 20
	minSharedBytes = 1 << 20
)

// workers returns the number of goroutines for a call: no more than can run at the same time, and no more than have
// enough bytes.
func (o *options) workers(shards, length int) int {
	most := 0
	if o.minSplitSize > 0 {
		most = length / o.minSplitSize
	} else if shards*length >= sharedBytes {
		most = shards * length / minSharedBytes
	}
	if o.shardSize <= 0 && o.maxGoroutines < most {
		most = o.maxGoroutines
	}
	if most <= 1 {
		return 1
	}
	if threads := runtime.GOMAXPROCS(0); threads < most {
		most = threads
	}
	return most
}

// run runs a map on whole shards in this goroutine.
func run(m *linear.Map, sources, targets [][]byte, length int) {
	codec.ReadRange(sources)
	codec.WriteRange(targets)
	m.Apply(sources, targets, 0, length)
}

// share does the same in several goroutines. The slices of shards escape to the heap.
func share(workers int, m *linear.Map, sources, targets [][]byte, length int) {
	codec.ReadRange(sources)
	codec.WriteRange(targets)
	_ = codec.Share(workers, targets[0], 0, length, func(begin, end int) error {
		m.Apply(sources, targets, begin, end)
		return nil
	})
}

// apply runs a map on whole shards, in several goroutines if they are long.
func (r *reedSolomon) apply(m *linear.Map, sources, targets [][]byte, length int) {
	if workers := r.o.workers(len(sources)+len(targets), length); workers > 1 {
		share(workers, m, sources, targets, length)
	} else {
		run(m, sources, targets, length)
	}
}

// applyTo does the same for one or two sources, which stay on the stack if no other goroutine reads them.
func (r *reedSolomon) applyTo(m *linear.Map, sources [2][]byte, count int, targets [][]byte, length int) {
	if workers := r.o.workers(count+len(targets), length); workers > 1 {
		share(workers, m, append([][]byte(nil), sources[:count]...), targets, length)
	} else {
		run(m, sources[:count], targets, length)
	}
}
