package codec

import (
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// ErrStripesDiffer means that not all stripes of a call miss the same shards.
var ErrStripesDiffer = errors.New("gfsmith: the stripes miss different shards")

// Grid is the place of shards in one allocation: shard i of stripe s begins Stripe*s + Shard*i bytes after First.
type Grid struct {
	First         *byte
	Shard, Stripe int
}

// Batch is an Engine with calls on many stripes whose shards are at equal distances in one allocation. They compute
// the same as the calls of Engine on each stripe. A Codec calls other engines, and for other shards, once for each
// stripe.
type Batch interface {
	Engine
	EncodeStripes(length, count int, data, parity Grid) error
	// AddStripes adds the contribution of shard s of shards as data shard indices[s] to the parities of stripe s.
	AddStripes(length int, indices []int, shards, parity Grid) error
	VerifyStripes(length int, shards Grid, same []bool) error
	RebuildStripes(length, count int, shards Grid, present, wanted []bool) error
}

// batch returns the engine's calls on many stripes, unless goroutines share a call on one stripe.
func (c *Codec) batch(length int) (Batch, bool) {
	if s, ok := c.engine.(*shared); ok && s.workers(c.k+c.m, length) > 1 {
		return nil, false
	}
	b, ok := c.single().(Batch)
	return b, ok
}

func address(shard []byte) uintptr { return uintptr(unsafe.Pointer(&shard[0])) }

// grid returns the place of shards begin to end - 1 of each group of `width` shards of the given length. Groups are
// stripes. It returns false if they overlap, or are not at equal distances in the capacity of the first one: only then
// they are known to be in one allocation.
func grid(shards [][]byte, width, begin, end, length int) (Grid, bool) {
	first := shards[begin]
	g := Grid{&first[0], length, length}
	if end-begin > 1 {
		g.Shard = int(address(shards[begin+1]) - address(first))
	}
	if len(shards) > width {
		g.Stripe = int(address(shards[width+begin]) - address(first))
	}
	if g.Shard < length || g.Stripe < length {
		return g, false
	}
	for s := 0; s*width < len(shards); s++ {
		for i := begin; i < end; i++ {
			offset := uintptr(s*g.Stripe + (i-begin)*g.Shard)
			if offset > uintptr(cap(first)-length) || address(shards[s*width+i]) != address(first)+offset {
				return g, false
			}
		}
	}
	return g, true
}

// whole returns nil for the shards of whole stripes.
func (c *Codec) whole(shards [][]byte) error {
	if len(shards)%(c.k+c.m) != 0 {
		return fmt.Errorf("%w: shards has %d; allowed: a multiple of %d", ErrTooFewShards, len(shards), c.k+c.m)
	}
	return nil
}

// product returns a times b, which is not 0, or the greatest int if the product is no int.
func product(a, b int) int {
	if a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}

// stripes returns the common length of the shards of any number of stripes.
func (c *Codec) stripes(shards [][]byte) (length int, err error) {
	if err := c.whole(shards); err != nil {
		return 0, err
	}
	if len(shards) == 0 {
		return 0, nil
	}
	return size(shards, false)
}

// each calls task for each stripe.
func (c *Codec) each(shards [][]byte, task func(s int, stripe [][]byte) error) error {
	n := c.k + c.m
	for s := 0; s*n < len(shards); s++ {
		if err := task(s, shards[s*n:(s+1)*n:(s+1)*n]); err != nil {
			return err
		}
	}
	return nil
}

// touch tells the race detector which shards an encoding of stripes reads and writes.
func (c *Codec) touch(shards [][]byte) {
	_ = c.each(shards, func(_ int, stripe [][]byte) error {
		ReadRange(stripe[:c.k])
		WriteRange(stripe[c.k:])
		return nil
	})
}

// EncodeStripes computes the parities of any number of stripes, each as by Encode. shards: k + m shards of the first
// stripe, then those of the next one, and so on; all of the same length.
func (c *Codec) EncodeStripes(shards [][]byte) error {
	length, err := c.stripes(shards)
	if err != nil || length == 0 {
		return err
	}
	n := c.k + c.m
	c.touch(shards)
	if b, ok := c.batch(length); ok {
		data, together := grid(shards, n, 0, c.k, length)
		if parity, ok := grid(shards, n, c.k, n, length); ok && together {
			return b.EncodeStripes(length, len(shards)/n, data, parity)
		}
	}
	return c.each(shards, func(_ int, stripe [][]byte) error {
		return c.engine.Encode(stripe[:c.k], stripe[c.k:])
	})
}

// UpdateStripes updates the parities of stripes in each of which one data shard changed. indices: the changed shard of
// each stripe. deltas: for each stripe, old XOR new contents. parity: m parities of each stripe, stripe after stripe.
func (c *Codec) UpdateStripes(indices []int, deltas, parity [][]byte) error {
	if err := counted("deltas", len(deltas), len(indices)); err != nil {
		return err
	}
	if err := counted("parity", len(parity), product(len(indices), c.m)); err != nil {
		return err
	}
	for _, index := range indices {
		if err := c.indexed(index); err != nil {
			return err
		}
	}
	if len(indices) == 0 {
		return nil
	}
	length, err := size(parity, false)
	if err != nil {
		return err
	}
	for _, delta := range deltas {
		if err := sized("a delta", delta, length); err != nil {
			return err
		}
	}
	ReadRange(deltas)
	WriteRange(parity)
	if b, ok := c.batch(length); ok {
		from, together := grid(deltas, 1, 0, 1, length)
		if to, ok := grid(parity, c.m, 0, c.m, length); ok && together {
			return b.AddStripes(length, indices, from, to)
		}
	}
	for s, index := range indices {
		if err := c.engine.Add(index, deltas[s], parity[s*c.m:(s+1)*c.m]); err != nil {
			return err
		}
	}
	return nil
}

// VerifyStripes returns for each stripe whether the parities match the data. shards: as for EncodeStripes.
func (c *Codec) VerifyStripes(shards [][]byte) ([]bool, error) {
	length, err := c.stripes(shards)
	if err != nil || length == 0 {
		return nil, err
	}
	n := c.k + c.m
	same := make([]bool, len(shards)/n)
	ReadRange(shards)
	if b, ok := c.batch(length); ok {
		if all, ok := grid(shards, n, 0, n, length); ok {
			return same, b.VerifyStripes(length, all, same)
		}
	}
	return same, c.each(shards, func(s int, stripe [][]byte) (err error) {
		same[s], err = c.engine.Verify(stripe)
		return err
	})
}

// ReconstructStripes rebuilds the missing shards of any number of stripes, each as by Reconstruct. shards: as for
// EncodeStripes; all stripes miss the same shards. A call that fails leaves the shards unchanged.
func (c *Codec) ReconstructStripes(shards [][]byte) error {
	n := c.k + c.m
	if err := c.whole(shards); err != nil {
		return err
	}
	if len(shards) == 0 {
		return nil
	}
	length, err := size(shards, true)
	if err != nil {
		return err
	}
	present, wanted, missing := make([]bool, n), make([]bool, n), 0
	for i := range present {
		if present[i] = len(shards[i]) != 0; !present[i] {
			wanted[i] = true
			missing++
		}
	}
	for i, shard := range shards {
		if present[i%n] != (len(shard) != 0) {
			return ErrStripesDiffer
		}
	}
	if missing == 0 {
		return nil
	}
	if err := c.repairable(missing); err != nil {
		return err
	}
	old := append([][]byte(nil), shards...)
	ReadRange(old)
	for i := range shards {
		if wanted[i%n] {
			shards[i] = room(shards[i], length)
			WriteRange(shards[i : i+1])
		}
	}
	if err := c.rebuildStripes(shards, length, present, wanted); err != nil {
		copy(shards, old)
		return err
	}
	return nil
}

func (c *Codec) rebuildStripes(shards [][]byte, length int, present, wanted []bool) error {
	n := c.k + c.m
	if b, ok := c.batch(length); ok {
		if all, ok := grid(shards, n, 0, n, length); ok {
			return b.RebuildStripes(length, len(shards)/n, all, present, wanted)
		}
	}
	return c.each(shards, func(_ int, stripe [][]byte) error {
		return c.engine.Rebuild(stripe, present, wanted)
	})
}
