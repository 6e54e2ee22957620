package klauspost

import (
	"fmt"
	"math/rand"
	"sort"
	"testing"
	"time"

	"github.com/klauspost/reedsolomon"

	"gfsmith.example/go/codec"
	"gfsmith.example/go/gfsmith"
)

const k, m = 12, 4

// peer creates a coder with klauspost's matrix. cgo_test.go adds one.
type peer struct {
	name string
	make func() (reedsolomon.Encoder, error)
}

var peers = []peer{
	{"klauspost", func() (reedsolomon.Encoder, error) { return reedsolomon.New(k, m, reedsolomon.WithMaxGoroutines(1)) }},
	{"klauspost-parallel", func() (reedsolomon.Encoder, error) { return reedsolomon.New(k, m) }},
	{"gfsmith", func() (reedsolomon.Encoder, error) { return gfsmith.New(codec.Backblaze, k, m) }},
}

// work is one call to be measured, on its own shards.
type work struct {
	name string
	call func() error
}

func shards(b *testing.B, coder reedsolomon.Encoder, size int) [][]byte {
	made := reedsolomon.AllocAligned(k+m, size)
	for _, shard := range made[:k] {
		rand.New(rand.NewSource(1)).Read(shard)
	}
	if err := coder.Encode(made); err != nil {
		b.Fatal(err)
	}
	return made
}

func encode(coder reedsolomon.Encoder, made [][]byte) func() error {
	return func() error { return coder.Encode(made) }
}

// repair rebuilds four data shards in place.
func repair(coder reedsolomon.Encoder, made [][]byte) func() error {
	lost := append([][]byte(nil), made...)
	return func() error {
		for i := 0; i < m; i++ {
			lost[2*i] = made[2*i][:0]
		}
		return coder.Reconstruct(lost)
	}
}

func each(b *testing.B, run func(b *testing.B, size int, works []work)) {
	for _, operation := range []struct {
		name string
		of   func(reedsolomon.Encoder, [][]byte) func() error
	}{{"Encode", encode}, {"Reconstruct", repair}} {
		for _, size := range []int{1 << 10, 16 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%d+%d/%dKiB", operation.name, k, m, size>>10), func(b *testing.B) {
				var works []work
				for _, p := range peers {
					coder, err := p.make()
					if err != nil {
						b.Fatal(err)
					}
					works = append(works, work{p.name, operation.of(coder, shards(b, coder, size))})
				}
				run(b, size, works)
			})
		}
	}
}

// Benchmark measures each call separately, in bytes of data per second.
func Benchmark(b *testing.B) {
	each(b, func(b *testing.B, size int, works []work) {
		for _, w := range works {
			b.Run(w.name, func(b *testing.B) {
				b.SetBytes(int64(k * size))
				b.ReportAllocs()
				for n := 0; n < b.N; n++ {
					if err := w.call(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}

// BenchmarkPaired measures all calls alternately, in rounds of a few hundred microseconds each, so that other
// work on the machine affects all of them alike. It reports the median over the rounds of each call's speed
// relative to klauspost.
func BenchmarkPaired(b *testing.B) {
	each(b, func(b *testing.B, size int, works []work) {
		calls := 1 + (4<<20)/(k*size)
		ratios := make([][]float64, len(works))
		for n := 0; n < b.N; n++ {
			times := make([]float64, len(works))
			for i := range works {
				w := (i + n) % len(works)
				start := time.Now()
				for c := 0; c < calls; c++ {
					if err := works[w].call(); err != nil {
						b.Fatal(err)
					}
				}
				times[w] = float64(time.Since(start))
			}
			for w := range works {
				ratios[w] = append(ratios[w], times[0]/times[w])
			}
		}
		b.ReportMetric(0, "ns/op")
		for w := 1; w < len(works); w++ {
			sort.Float64s(ratios[w])
			b.ReportMetric(ratios[w][b.N/2], "x-"+works[w].name)
		}
	})
}
