// Command replacement measures the replacement for klauspost/reedsolomon next to the original, in one process. Samples of
// both alternate; a ratio is the original's time over the replacement's in the same round. It prints a row for each cell.
package main

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"sort"
	"time"

	theirs "github.com/klauspost/reedsolomon"

	ours "gfsmith.example/replacement"
)

// encoder has the measured methods of both.
type encoder interface {
	Encode(shards [][]byte) error
	Reconstruct(shards [][]byte) error
	Update(shards [][]byte, changed [][]byte) error
}

var shapes = [][2]int{{4, 2}, {10, 4}, {12, 4}, {16, 4}, {28, 4}, {32, 32}}

var sizes = []int{64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}

var (
	rounds = flag.Int("rounds", 31, "samples of each")
	sample = flag.Duration("sample", 300*time.Microsecond, "time of a sample")
	serial = flag.Bool("serial", false, "one goroutine a call, instead of the default")
	cells  = flag.String("cells", "", "regular expression for the measured cells, such as ^Encode,10,4,")
)

func must[T any](made T, err error) T {
	check(err)
	return made
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// pair creates both encoders.
func pair(k, m int) [2]encoder {
	var own []ours.Option
	var other []theirs.Option
	if *serial {
		own, other = []ours.Option{ours.WithMaxGoroutines(1)}, []theirs.Option{theirs.WithMaxGoroutines(1)}
	}
	return [2]encoder{must(ours.New(k, m, own...)), must(theirs.New(k, m, other...))}
}

// placed allocates shards one behind the other. Short calls are slower if their shards lie at certain distances from the
// stack, modulo the size of a page; `place` shifts them.
func placed(count, size, place int) [][]byte {
	const distance = 576
	block := ours.AllocAligned(1, count*size+places*distance)[0][place*distance:]
	made := make([][]byte, count)
	for i := range made {
		made[i] = block[i*size:][:size:size]
	}
	return made
}

// places is the number of placements of short shards.
const places = 7

// calls returns the measured calls of an encoder, on its own shards.
func calls(e encoder, k, m, size, place int) []func() {
	shards := placed(k+m, size, place)
	random := rand.New(rand.NewSource(1))
	for _, shard := range shards[:k] {
		random.Read(shard)
	}
	check(e.Encode(shards))
	lost, changed := append([][]byte(nil), shards...), make([][]byte, k)
	changed[k/2] = placed(1, size, place)[0]
	random.Read(changed[k/2])
	return []func(){
		func() { check(e.Encode(shards)) },
		func() {
			for i := 0; i < m && i < k; i++ {
				lost[i] = lost[i][:0]
			}
			check(e.Reconstruct(lost))
		},
		func() { check(e.Update(shards, changed)) },
	}
}

func timed(call func(), count int) time.Duration {
	start := time.Now()
	for n := 0; n < count; n++ {
		call()
	}
	return time.Since(start)
}

// measure prints the quartiles of the ratios. calls: those of both at each placement; a round measures one.
func measure(name string, calls [][2]func()) {
	count, both := 1, calls[0]
	for count < 1<<20 && timed(both[0], count)+timed(both[1], count) < 2**sample {
		count *= 2
	}
	var ratios []float64
	var best [2]time.Duration
	for round := 0; round < *rounds; round++ {
		var taken [2]time.Duration
		both := calls[round%len(calls)]
		for n := range both {
			which := (n + round) % 2
			taken[which] = timed(both[which], count)
			if best[which] == 0 || taken[which] < best[which] {
				best[which] = taken[which]
			}
		}
		ratios = append(ratios, float64(taken[1])/float64(taken[0]))
	}
	sort.Float64s(ratios)
	n := len(ratios)
	fmt.Printf("%s,%d,%d,%.3f,%.3f,%.3f\n", name, int(best[0])/count, int(best[1])/count, ratios[n/4], ratios[n/2], ratios[3*n/4])
}

func main() {
	flag.Parse()
	wanted := must(regexp.Compile(*cells))
	fmt.Println("call,k,m,bytes,ns,ns of the original,first quartile,median,third quartile")
	for _, shape := range shapes {
		k, m := shape[0], shape[1]
		for _, size := range sizes {
			encoders := pair(k, m)
			var measured [3][][2]func()
			for place := 0; place < places && (place == 0 || size <= 16<<10); place++ {
				own, other := calls(encoders[0], k, m, size, place), calls(encoders[1], k, m, size, place)
				for i := range measured {
					measured[i] = append(measured[i], [2]func(){own[i], other[i]})
				}
			}
			for i, name := range []string{"Encode", "Reconstruct", "Update"} {
				if cell := fmt.Sprintf("%s,%d,%d,%d", name, k, m, size); wanted.MatchString(cell) {
					measure(cell, measured[i])
				}
			}
		}
	}
}
