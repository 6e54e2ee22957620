package suite

import (
	"fmt"
	"math/rand"
	"testing"
	"unsafe"

	"gfsmith.example/go/codec"
)

// layouts place n shards of each of count stripes of the given length.
var layouts = map[string]func(count, n, length int) [][]byte{
	"stripe after stripe": func(count, n, length int) [][]byte {
		return cut(count, n, length, func(s, i int) int { return (s*n + i) * length })
	},
	"shard after shard": func(count, n, length int) [][]byte {
		return cut(count, n, length, func(s, i int) int { return (i*count + s) * length })
	},
	"gaps": func(count, n, length int) [][]byte {
		return cut(count, n, length, func(s, i int) int { return 5 + s*71 + (s*n+i)*(length+9) })
	},
	"one shard elsewhere": func(count, n, length int) [][]byte {
		return cut(count, n, length, func(s, i int) int {
			if s == count-1 && i == n-1 {
				i++
			}
			return (s*n + i) * length
		})
	},
	"backwards": func(count, n, length int) [][]byte {
		return cut(count, n, length, func(s, i int) int { return ((count-s)*n - i) * length })
	},
	"allocations": func(count, n, length int) [][]byte {
		shards := make([][]byte, count*n)
		for i := range shards {
			shards[i] = make([]byte, length)
		}
		return shards
	},
}

// cut cuts shards from one allocation at the given places.
func cut(count, n, length int, place func(s, i int) int) [][]byte {
	memory := make([]byte, 2*(count+2)*(n+2)*(length+80))
	shards := make([][]byte, 0, count*n)
	for s := 0; s < count; s++ {
		for i := 0; i < n; i++ {
			shards = append(shards, memory[place(s, i):][:length])
		}
	}
	return shards
}

// stripes compares calls on many stripes with calls on one.
func (p Package) stripes(t *testing.T) {
	random := rand.New(rand.NewSource(8))
	for _, shape := range [][2]int{{1, 1}, {4, 2}, {10, 4}, {40, 3}} {
		c, err := p.New(codec.Cauchy, shape[0], shape[1])
		is(t, err, nil)
		for name, place := range layouts {
			for _, count := range []int{1, 2, 60} {
				for _, length := range []int{1, 77, 1024} {
					t.Run(fmt.Sprint(name, shape, count, length), func(t *testing.T) {
						many(t, c, random, place(count, c.TotalShards(), length))
					})
				}
			}
		}
		is(t, c.EncodeStripes(nil), nil)
		is(t, c.ReconstructStripes(nil), nil)
		is(t, c.UpdateStripes(nil, nil, nil), nil)
		if same, err := c.VerifyStripes(nil); len(same) != 0 || err != nil {
			t.Errorf("VerifyStripes of no stripes: %v, %v", same, err)
		}
	}
}

// many tests the calls on stripes with memory for all shards.
func many(t *testing.T, c *codec.Codec, random *rand.Rand, shards [][]byte) {
	k, n := c.DataShards(), c.TotalShards()
	count, length := len(shards)/n, len(shards[0])
	for _, shard := range shards {
		random.Read(shard)
	}
	want := Copy(shards)
	for s := 0; s < count; s++ {
		is(t, c.Encode(want[s*n:(s+1)*n]), nil)
	}
	is(t, c.EncodeStripes(shards), nil)
	Same(t, shards, want, "EncodeStripes")
	wrong := random.Intn(count)
	place := &shards[wrong*n+random.Intn(n)][random.Intn(length)]
	*place ^= 1
	same, err := c.VerifyStripes(shards)
	for s, ok := range same {
		if ok != (s != wrong) || err != nil {
			t.Fatalf("VerifyStripes: %v for stripe %d, %d is wrong; %v", ok, s, wrong, err)
		}
	}
	*place ^= 1
	for _, i := range random.Perm(n)[:1+random.Intn(n-k)] {
		for s := 0; s < count; s++ {
			random.Read(shards[s*n+i])
			shards[s*n+i] = shards[s*n+i][:0]
		}
	}
	is(t, c.ReconstructStripes(shards), nil)
	Same(t, shards, want, "ReconstructStripes")
	change(t, c, random, shards)
}

// change changes one data shard of each stripe and updates the parities.
func change(t *testing.T, c *codec.Codec, random *rand.Rand, shards [][]byte) {
	k, n := c.DataShards(), c.TotalShards()
	count, length := len(shards)/n, len(shards[0])
	indices, deltas := make([]int, count), cut(count, 1, length, func(s, _ int) int { return s * (length + 3) })
	var parity [][]byte
	for s := range indices {
		indices[s] = random.Intn(k)
		random.Read(deltas[s])
		parity = append(parity, shards[s*n+k:(s+1)*n]...)
		for b, x := range deltas[s] {
			shards[s*n+indices[s]][b] ^= x
		}
	}
	is(t, c.UpdateStripes(indices, deltas, parity), nil)
	want := Copy(shards)
	for s := 0; s < count; s++ {
		is(t, c.Encode(want[s*n:(s+1)*n]), nil)
	}
	Same(t, shards, want, "UpdateStripes")
}

// refusedStripes tests that mistakes return the right error, and nothing is written.
func (p Package) refusedStripes(t *testing.T) {
	c, err := p.New(codec.Cauchy, 4, 2)
	is(t, err, nil)
	shards := layouts["stripe after stripe"](3, 6, 50)
	with := func(i int, shard []byte) [][]byte {
		changed := append([][]byte(nil), shards...)
		changed[i] = shard
		return changed
	}
	is(t, c.EncodeStripes(shards[:17]), codec.ErrTooFewShards)
	is(t, c.EncodeStripes(with(17, shards[17][1:])), codec.ErrShardSize)
	is(t, c.EncodeStripes(with(17, nil)), codec.ErrShardSize)
	is(t, c.EncodeStripes(make([][]byte, 12)), codec.ErrShardNoData)
	_, err = c.VerifyStripes(shards[:5])
	is(t, err, codec.ErrTooFewShards)
	_, err = c.VerifyStripes(with(0, nil))
	is(t, err, codec.ErrShardSize)
	is(t, c.ReconstructStripes(shards[1:]), codec.ErrTooFewShards)
	is(t, c.ReconstructStripes(make([][]byte, 6)), codec.ErrShardNoData)
	is(t, c.ReconstructStripes(with(16, nil)), codec.ErrStripesDiffer)
	is(t, c.ReconstructStripes(with(0, nil)), codec.ErrStripesDiffer)
	is(t, c.ReconstructStripes([][]byte{nil, nil, nil, shards[3], shards[4], shards[5]}), codec.ErrTooFewShards)
	is(t, c.UpdateStripes([]int{1, 2}, shards[:3], shards[:6]), codec.ErrTooFewShards)
	is(t, c.UpdateStripes([]int{1, 2, 0}, shards[:3], shards[:5]), codec.ErrTooFewShards)
	is(t, c.UpdateStripes([]int{1, 4, 0}, shards[:3], shards[:6]), codec.ErrInvShardNum)
	is(t, c.UpdateStripes([]int{1, -1, 0}, shards[:3], shards[:6]), codec.ErrInvShardNum)
	is(t, c.UpdateStripes([]int{1, 2}, with(1, nil)[:2], shards[:4]), codec.ErrShardSize)
	is(t, c.UpdateStripes([]int{1}, shards[:1], make([][]byte, 2)), codec.ErrShardNoData)
	local, err := p.NewMatrix([][]byte{{1, 1, 0, 0}, {0, 0, 1, 1}})
	is(t, err, nil)
	for s := 0; s < 3; s++ {
		shards[s*6], shards[s*6+1] = shards[s*6][:0], nil
	}
	want := Copy(shards)
	is(t, local.ReconstructStripes(shards), codec.ErrSingular)
	Same(t, shards, want, "ReconstructStripes")
}

// recorder is an engine that counts its calls.
type recorder struct {
	codec.Batch
	single, batch int
}

func (r *recorder) Encode(_, _ [][]byte) error                           { r.single++; return nil }
func (r *recorder) Verify([][]byte) (bool, error)                        { r.single++; return true, nil }
func (r *recorder) EncodeStripes(_, _ int, _, _ codec.Grid) error        { r.batch++; return nil }
func (r *recorder) VerifyStripes(_ int, _ codec.Grid, same []bool) error { r.batch++; return nil }

// oneCall tests that the engine gets one call if shards are at equal distances in one allocation, otherwise one for
// each stripe: also if the capacity of the first shard does not show that adjacent memory is one allocation.
func (p Package) oneCall(t *testing.T) {
	const k, m, count, length = 3, 2, 4, 50
	regular := map[string]bool{"stripe after stripe": true, "shard after shard": true, "gaps": true}
	for name, place := range layouts {
		r := &recorder{}
		c := codec.New(r, k, m).WithGoroutines(2)
		calls := func(shards [][]byte, together bool) {
			*r = recorder{}
			is(t, c.EncodeStripes(shards), nil)
			_, err := c.VerifyStripes(shards)
			is(t, err, nil)
			if together && (r.batch != 2 || r.single != 0) || !together && (r.batch != 0 || r.single != 2*count) {
				t.Errorf("%s: %d calls on all stripes, %d on one", name, r.batch, r.single)
			}
		}
		shards := place(count, k+m, length)
		calls(shards, regular[name])
		for i := range shards[:k+1] { // one byte less than the extent from this shard on
			last := uintptr(unsafe.Pointer(&shards[len(shards)-1][0]))
			if extent := int(last - uintptr(unsafe.Pointer(&shards[i][0]))); regular[name] {
				shards[i] = shards[i][: length : extent+length-1]
			}
		}
		calls(shards, false)
	}
}
