package reedsolomon_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"runtime"
	"testing"

	"github.com/klauspost/reedsolomon"
)

// encoded returns random shards with their parity shards.
func encoded(t *testing.T, encoder reedsolomon.Encoder, random *rand.Rand, size int) [][]byte {
	t.Helper()
	shape := encoder.(reedsolomon.Extensions)
	shards := shape.AllocAligned(size)
	for _, shard := range shards[:shape.DataShards()] {
		random.Read(shard)
	}
	if err := encoder.Encode(shards); err != nil {
		t.Fatal(err)
	}
	return shards
}

func create(t *testing.T, k, m int, options ...reedsolomon.Option) reedsolomon.Encoder {
	t.Helper()
	encoder, err := reedsolomon.New(k, m, options...)
	if err != nil {
		t.Fatal(err)
	}
	return encoder
}

// Calls on short shards allocate nothing, except for repairs with many sources.
func TestNoAllocations(t *testing.T) {
	for _, shape := range [][2]int{{4, 2}, {12, 4}, {40, 10}} {
		k, m := shape[0], shape[1]
		encoder := create(t, k, m)
		shards := encoded(t, encoder, rand.New(rand.NewSource(1)), 1000)
		lost, changed := append([][]byte(nil), shards...), make([][]byte, k)
		changed[1] = shards[0]
		for name, call := range map[string]func() error{
			"Encode":    func() error { return encoder.Encode(shards) },
			"EncodeIdx": func() error { return encoder.EncodeIdx(shards[0], 0, shards[k:]) },
			"Update":    func() error { return encoder.Update(shards, changed) },
			"Reconstruct": func() error {
				lost[0], lost[k] = lost[0][:0], lost[k][:0]
				return encoder.Reconstruct(lost)
			},
		} {
			if n := testing.AllocsPerRun(20, func() { _ = call() }); n != 0 && (k <= 20 || name != "Reconstruct") {
				t.Errorf("%d+%d %s: %v allocations", k, m, name, n)
			}
		}
	}
}

// Every loss is repaired if the present shards determine the lost ones: the original uses the first ones only.
func TestRepairsWithOtherShards(t *testing.T) {
	encoder := create(t, 2, 3, reedsolomon.WithCustomMatrix([][]byte{{1, 0}, {1, 0}, {1, 1}}))
	shards := encoded(t, encoder, rand.New(rand.NewSource(2)), 100)
	lost := append([][]byte(nil), shards...)
	lost[0], lost[1] = nil, nil
	if err := encoder.Reconstruct(lost); err != nil || !bytes.Equal(lost[1], shards[1]) {
		t.Fatal(err)
	}
}

// Goroutines may share the shortest shards, which have no whole cache line.
func TestSplitSizes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	alone := create(t, 3, 2, reedsolomon.WithMaxGoroutines(1))
	together := create(t, 3, 2, reedsolomon.WithMinSplitSize(1))
	for size := 1; size <= 200; size++ {
		for begin := 0; begin < 64; begin += 9 {
			want, got := make([][]byte, 5), make([][]byte, 5)
			for i := range want {
				want[i] = bytes.Repeat([]byte{byte(3*i + 1)}, size)
				got[i] = append(make([]byte, begin), want[i]...)[begin:]
			}
			if alone.Encode(want) != nil || together.Encode(got) != nil {
				t.Fatal("Encode")
			}
			for i := range want {
				if !bytes.Equal(got[i], want[i]) {
					t.Fatalf("%d bytes at %d: shard %d differs", size, begin, i)
				}
			}
			got[4][size-1] ^= 1
			if ok, err := together.Verify(got); ok || err != nil {
				t.Fatalf("%d bytes at %d: %v, %v", size, begin, ok, err)
			}
		}
	}
}

func TestJoinRefusesNegativeSizes(t *testing.T) {
	shards := reedsolomon.AllocAligned(3, 64)
	if err := create(t, 2, 1).Join(io.Discard, shards, -1); !errors.Is(err, reedsolomon.ErrShortData) {
		t.Error(err)
	}
}

// Repairs of a Leopard code do not depend on earlier ones.
func TestLeopardRepairs(t *testing.T) {
	random := rand.New(rand.NewSource(3))
	for _, shape := range [][2]int{{1, 3}, {3, 2}, {10, 4}, {100, 30}} {
		k, m := shape[0], shape[1]
		encoder := create(t, k, m, reedsolomon.WithLeopardGF(true))
		shards := encoded(t, encoder, random, 128)
		for n := 0; n < 30; n++ {
			lost := append([][]byte(nil), shards...)
			for _, i := range random.Perm(k + m)[:1+random.Intn(m)] {
				lost[i] = nil
			}
			rebuild, count := encoder.Reconstruct, k+m
			if n%2 == 0 {
				rebuild, count = encoder.ReconstructData, k
			}
			if err := rebuild(lost); err != nil {
				t.Fatal(err)
			}
			for i := range lost[:count] {
				if !bytes.Equal(lost[i], shards[i]) {
					t.Fatalf("%d+%d: shard %d differs", k, m, i)
				}
			}
		}
	}
}

// Far calls read many sources group by group, and write the targets of few with streaming stores, at any position. The
// results are those of parts that fit in a cache.
func TestFarCalls(t *testing.T) {
	for _, shape := range [][2]int{{4, 2}, {10, 4}, {12, 4}, {21, 4}} {
		for _, shift := range []int{0, 1} {
			t.Run(fmt.Sprint(shape, shift), func(t *testing.T) { testFarCalls(t, shape[0], shape[1], shift) })
		}
	}
}

func testFarCalls(t *testing.T, k, m, shift int) {
	const part = 10000
	parts := (8<<20)/(k+m)/part + 1
	encoder := create(t, k, m, reedsolomon.WithMaxGoroutines(1))
	shards := reedsolomon.AllocAligned(k+m, part*parts+shift)
	random := rand.New(rand.NewSource(1))
	for i := range shards {
		shards[i] = shards[i][shift:]
		random.Read(shards[i])
	}
	if err := encoder.Encode(shards); err != nil {
		t.Fatal(err)
	}
	for at := 0; at < part*parts; at += part {
		pieces := make([][]byte, k+m)
		for i, shard := range shards {
			pieces[i] = shard[at:][:part]
		}
		if ok, err := encoder.Verify(pieces); !ok || err != nil {
			t.Fatal("parities differ at", at, err)
		}
	}
	lost := append([][]byte(nil), shards...)
	for _, i := range []int{0, k - 1, k, k + 1}[:m] {
		lost[i] = nil
	}
	if err := encoder.Reconstruct(lost); err != nil {
		t.Fatal(err)
	}
	for i, shard := range lost {
		if !bytes.Equal(shard, shards[i]) {
			t.Error("reconstructed shard", i)
		}
	}
}

// A stream that ends before the others is an error, even at the end of a block.
func TestStreamEndsEarly(t *testing.T) {
	encoder, err := reedsolomon.NewStream(2, 1, reedsolomon.WithStreamBlockSize(10))
	if err != nil {
		t.Fatal(err)
	}
	for _, lengths := range [][2]int{{10, 20}, {20, 10}, {0, 10}, {5, 10}} {
		data := []io.Reader{bytes.NewReader(make([]byte, lengths[0])), bytes.NewReader(make([]byte, lengths[1]))}
		if err := encoder.Encode(data, []io.Writer{io.Discard}); !errors.Is(err, reedsolomon.ErrShardSize) {
			t.Error(lengths, err)
		}
	}
}

// buffers is a WorkAllocator that returns too few or too short buffers.
type buffers struct{ fewer, shorter int }

func (b buffers) Get(n, size int) [][]byte {
	return reedsolomon.AllocAligned(n-b.fewer, size-b.shorter)
}
func (b buffers) Put([][]byte) {}

func TestWorkAllocator(t *testing.T) {
	for _, b := range []buffers{{0, 0}, {1, 0}, {0, 1}} {
		encoder := create(t, 10, 4, reedsolomon.WithLeopardGF16(true), reedsolomon.WithWorkAllocator(b))
		shards := reedsolomon.AllocAligned(14, 64)
		if err := encoder.Encode(shards); errors.Is(err, reedsolomon.ErrInvalidInput) != (b != buffers{}) {
			t.Error("Encode", b, err)
		}
		shards[0] = nil
		if err := encoder.Reconstruct(shards); errors.Is(err, reedsolomon.ErrInvalidInput) != (b != buffers{}) {
			t.Error("Reconstruct", b, err)
		}
		if (shards[0] == nil) != (b != buffers{}) {
			t.Error("Reconstruct", b, "changed the shards")
		}
	}
}
