package suite

import (
	"bytes"
	"math/rand"
	"runtime"
	"testing"

	"gfsmith.example/go/codec"
)

// goroutines compares a codec whose calls are shared by goroutines with one whose calls are not, on shards that are
// just too short to be shared, and on longer ones of odd lengths.
func (p Package) goroutines(t *testing.T) {
	const k, m = 4, 2
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	alone, err := p.New(codec.Cauchy, k, m)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewSource(5))
	for _, most := range []int{0, 1, 3, 64} {
		together := alone.WithGoroutines(2).WithGoroutines(most)
		for _, length := range []int{1, 4<<20/(k+m) - 1, 4<<20/(k+m) + 1, 1<<20 + 77} {
			s := NewShards(random, k+m, length)
			p.compare(t, alone, together, s, random)
			if !s.Untouched() {
				t.Fatalf("%d goroutines, %d bytes: bytes around the shards changed", most, length)
			}
		}
	}
}

// compare applies all calls to equal shards.
func (p Package) compare(t *testing.T, alone, together *codec.Codec, s *Shards, random *rand.Rand) {
	t.Helper()
	k, length := alone.DataShards(), len(s.All[0])
	want := Copy(s.All)
	do := func(name string, call func(c *codec.Codec, shards [][]byte) error) {
		t.Helper()
		is(t, call(alone, want), nil)
		is(t, call(together, s.All), nil)
		Same(t, s.All, want, name)
	}
	do("Encode", func(c *codec.Codec, shards [][]byte) error { return c.Encode(shards) })
	for place := 0; place < 6; place++ {
		at := random.Intn(length)
		s.All[place][at] ^= 1
		if ok, err := together.Verify(s.All); ok || err != nil {
			t.Fatalf("Verify: %v, %v with a change of byte %d of shard %d", ok, err, at, place)
		}
		s.All[place][at] ^= 1
	}
	if ok, err := together.Verify(s.All); !ok || err != nil {
		t.Fatalf("Verify: %v, %v", ok, err)
	}
	for _, lost := range [][]int{{1, 2}, {0, 5}, {4, 5}} {
		do("Reconstruct", func(c *codec.Codec, shards [][]byte) error {
			for _, i := range lost {
				room := shards[i]
				for b := range room {
					room[b] = 0
				}
				shards[i] = room[:0]
			}
			return c.Reconstruct(shards)
		})
	}
	fresh := bytes.Repeat([]byte{7}, length)
	do("EncodeIdx", func(c *codec.Codec, shards [][]byte) error { return c.EncodeIdx(fresh, 3, shards[k:]) })
	do("Update", func(c *codec.Codec, shards [][]byte) error {
		return c.Update(shards, [][]byte{nil, fresh, nil, shards[0]})
	})
}

// together tests the refusal of losses by a shared call: nothing is written.
func (p Package) together(t *testing.T) {
	c, err := p.NewMatrix([][]byte{{1, 1, 0, 0}, {0, 0, 1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	shards := NewShards(rand.New(rand.NewSource(6)), 6, 1<<20).All
	shards[0], shards[1] = shards[0][:0], shards[1][:0]
	want := Copy(shards)
	is(t, c.WithGoroutines(0).Reconstruct(shards), codec.ErrSingular)
	Same(t, shards, want, "Reconstruct")
	shards[4] = nil
	is(t, c.WithGoroutines(0).Reconstruct(shards), codec.ErrTooFewShards)
}
