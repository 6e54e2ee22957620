package codec

import (
	"runtime"
	"sync/atomic"
)

// sharedBytes is the fewest bytes of all shards of a call that several goroutines share, as in gfsmith_parallel.h:
// shorter calls take less time than waking another thread.
const sharedBytes = 4 << 20

// headBytes is the length of the part that Rebuild computes first, so that a repair is planned once.
const headBytes = 64

// stepBytes is the number of bytes of all shards after which Verify looks whether another goroutine has found a
// difference.
const stepBytes = 512 << 10

// Divisible is an engine whose calls may be divided only at multiples of Unit bytes from the beginning of shards. Each
// call has a constant cost, so there is one for each goroutine.
type Divisible interface {
	Engine
	Unit() int
}

// shared is an engine whose long calls are shared by several goroutines.
type shared struct {
	Engine
	most int
}

// WithGoroutines returns a codec with the same code whose calls on 4 MiB or more (all shards together) are shared by
// up to `most` new goroutines, and never more than GOMAXPROCS. With 0 only GOMAXPROCS limits
// them; with 1 every call runs in the calling goroutine, as with a new codec.
func (c *Codec) WithGoroutines(most int) *Codec {
	return &Codec{&shared{c.single(), most}, c.k, c.m}
}

// single returns the engine that computes in the calling goroutine.
func (c *Codec) single() Engine {
	if s, ok := c.engine.(*shared); ok {
		return s.Engine
	}
	return c.engine
}

// workers returns the number of goroutines for a call.
func (s *shared) workers(shards, length int) int {
	if s.most == 1 || length < sharedBytes/shards {
		return 1
	}
	workers := runtime.GOMAXPROCS(0)
	if s.most > 0 {
		workers = least(workers, s.most)
	}
	return workers
}

// share calls task for ranges that cover the bytes from `begin` on of shards like `first`.
func (s *shared) share(workers int, first []byte, begin int, task func(begin, end int) error) error {
	if d, ok := s.Engine.(Divisible); ok {
		return shareEqually(workers, d.Unit(), len(first), task)
	}
	return Share(workers, first, begin, len(first), task)
}

// part returns bytes of all shards; missing ones remain missing.
func part(shards [][]byte, begin, end int) [][]byte {
	made := make([][]byte, len(shards))
	for i, shard := range shards {
		if len(shard) != 0 {
			made[i] = shard[begin:end]
		}
	}
	return made
}

func (s *shared) Encode(data, parity [][]byte) error {
	workers := s.workers(len(data)+len(parity), len(parity[0]))
	if workers == 1 {
		return s.Engine.Encode(data, parity)
	}
	return s.share(workers, parity[0], 0, func(begin, end int) error {
		return s.Engine.Encode(part(data, begin, end), part(parity, begin, end))
	})
}

func (s *shared) Add(index int, shard []byte, parity [][]byte) error {
	workers := s.workers(1+len(parity), len(shard))
	if workers == 1 {
		return s.Engine.Add(index, shard, parity)
	}
	return Share(workers, parity[0], 0, len(shard), func(begin, end int) error {
		return s.Engine.Add(index, shard[begin:end], part(parity, begin, end))
	})
}

func (s *shared) Change(index int, old, new []byte, parity [][]byte) error {
	workers := s.workers(2+len(parity), len(old))
	if workers == 1 {
		return s.Engine.Change(index, old, new, parity)
	}
	return Share(workers, parity[0], 0, len(old), func(begin, end int) error {
		return s.Engine.Change(index, old[begin:end], new[begin:end], part(parity, begin, end))
	})
}

func (s *shared) Verify(shards [][]byte) (bool, error) {
	workers := s.workers(len(shards), len(shards[0]))
	if workers == 1 {
		return s.Engine.Verify(shards)
	}
	step := stepBytes / len(shards) / 64 * 64 // more than 0, since a codec has at most MaxShards
	var differs atomic.Bool
	err := Share(workers, shards[0], 0, len(shards[0]), func(begin, end int) error {
		for ; begin < end && !differs.Load(); begin += step {
			same, err := s.Engine.Verify(part(shards, begin, least(begin+step, end)))
			if err != nil {
				return err
			}
			if !same {
				differs.Store(true)
			}
		}
		return nil
	})
	return err == nil && !differs.Load(), err
}

// Rebuild computes the first bytes alone: an error is found, and the repair planned, before the goroutines start. An
// engine that is Divisible keeps no plan.
func (s *shared) Rebuild(shards [][]byte, present, wanted []bool) error {
	var first []byte
	for i := range shards {
		if wanted[i] && !present[i] {
			first = shards[i]
			break
		}
	}
	workers := 1
	if first != nil {
		workers = s.workers(len(shards), len(first))
	}
	if workers == 1 {
		return s.Engine.Rebuild(shards, present, wanted)
	}
	used := make([][]byte, len(shards))
	for i, shard := range shards {
		if present[i] || wanted[i] {
			used[i] = shard
		}
	}
	head := 0
	if _, ok := s.Engine.(Divisible); !ok {
		head = headBytes
		if err := s.Engine.Rebuild(part(used, 0, head), present, wanted); err != nil {
			return err
		}
	}
	return s.share(workers, first, head, func(begin, end int) error {
		return s.Engine.Rebuild(part(used, begin, end), present, wanted)
	})
}
