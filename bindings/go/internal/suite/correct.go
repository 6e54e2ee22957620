package suite

import (
	"math/rand"
	"testing"

	"gfsmith.example/go/codec"
)

// correct tests that Correct changes two wrong symbols of each position back, and its errors.
// With 40 shards the calls pass an array of pointers.
func (p Package) correct(t *testing.T) {
	for _, k := range []int{6, 35} {
		const m, length, damaged = 5, 300, 200
		c, err := p.New(codec.Cauchy, k, m)
		is(t, err, nil)
		random := rand.New(rand.NewSource(int64(k)))
		s := NewShards(random, k+m, length)
		is(t, c.Encode(s.All), nil)
		right := Copy(s.All)
		for at := 0; at < damaged; at++ {
			s.All[at%(k+m)][at] ^= 0x51
			s.All[(at+4)%(k+m)][at] ^= byte(1 + at)
		}
		found, err := c.WithGoroutines(2).Correct(s.All)
		is(t, err, nil)
		Same(t, s.All, right, "corrected")
		if !s.Untouched() {
			t.Fatal("wrote outside of the shards")
		}
		total := 0
		for _, count := range found.Symbols {
			total += count
		}
		if total != 2*damaged || found.Intact != length-damaged || found.Uncorrected != 0 {
			t.Fatal(found)
		}
		p.correctRest(t, c, s.All, right)
	}
	p.correctZeros(t)
	one, err := p.New(codec.Cauchy, 3, 1)
	is(t, err, nil)
	_, err = one.Correct(NewShards(rand.New(rand.NewSource(1)), 4, 9).All)
	is(t, err, codec.ErrUnsupported)
	_, err = one.Correct(make([][]byte, 3))
	is(t, err, codec.ErrTooFewShards)
	_, err = one.Correct(make([][]byte, 4))
	is(t, err, codec.ErrShardNoData)
}

// correctZeros tests that parities that are always 0 correct nothing if they are all that is left.
func (p Package) correctZeros(t *testing.T) {
	zeros, err := p.NewMatrix([][]byte{{0}, {0}, {0}})
	is(t, err, nil)
	shards := NewShards(rand.New(rand.NewSource(1)), 4, 9).All
	shards[0] = nil
	_, err = zeros.Correct(shards)
	is(t, err, codec.ErrUnsupported)
}

// correctRest tests that with three missing shards one wrong symbol is corrected and more are counted.
func (p Package) correctRest(t *testing.T, c *codec.Codec, shards, right [][]byte) {
	for _, missing := range []int{2, 4, len(shards) - 1} {
		shards[missing] = nil
	}
	shards[0][7] ^= 1
	for _, wrong := range []int{0, 1, 3} {
		shards[wrong][9] ^= 1
	}
	found, err := c.Correct(shards)
	is(t, err, nil)
	for _, wrong := range []int{0, 1, 3} {
		right[wrong][9] ^= 1
	}
	for _, present := range []int{0, 1, 3} {
		Same(t, shards[present:present+1], right[present:present+1], "with missing shards")
	}
	if found.Symbols[0] != 1 || found.Uncorrected != 1 || found.Intact != len(right[0])-2 {
		t.Fatal(found)
	}
	shards[1] = nil
	_, err = c.Correct(shards)
	is(t, err, codec.ErrTooFewShards)
}
