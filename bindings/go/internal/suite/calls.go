package suite

import (
	"bytes"
	"io"
	"math/rand"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"

	"gfsmith.example/go/codec"
)

// refusals tests that every mistake returns the right error, the same as klauspost's if it has one.
func (p Package) refusals(t *testing.T) {
	for _, shape := range [][2]int{{0, 1}, {1, 0}, {-1, 4}, {200, 56}} {
		_, err := p.New(codec.Cauchy, shape[0], shape[1])
		is(t, err, codec.ErrInvShardNum)
	}
	_, err := p.New(codec.Vandermonde, 22, 4)
	is(t, err, codec.ErrNotMDS)
	if _, err := p.New("nonsense", 4, 2); err == nil {
		t.Error("a code of no name")
	}
	_, err = p.NewMatrix([][]byte{{1, 2}, {1}})
	is(t, err, codec.ErrInvShardNum)
	_, err = p.NewMatrix(nil)
	is(t, err, codec.ErrInvShardNum)
	if p.SetISA("nonsense") == nil {
		t.Error("an instruction set of no name")
	}
	c, err := p.New(codec.Cauchy, 4, 2)
	is(t, err, nil)
	shards := NewShards(rand.New(rand.NewSource(1)), 6, 100).All
	is(t, c.Encode(shards[:5]), codec.ErrTooFewShards)
	is(t, c.Encode(append(shards[:6:6], shards[0])), codec.ErrTooFewShards)
	is(t, c.Encode(make([][]byte, 6)), codec.ErrShardNoData)
	is(t, c.Encode(append(append([][]byte(nil), shards[:5]...), shards[5][1:])), codec.ErrShardSize)
	is(t, c.EncodeIdx(shards[0], 4, shards[4:]), codec.ErrInvShardNum)
	is(t, c.EncodeIdx(shards[0][1:], 0, shards[4:]), codec.ErrShardSize)
	is(t, c.Update(shards, shards[:3]), codec.ErrTooFewShards)
	is(t, c.Update(append([][]byte{nil}, shards[1:]...), shards[:4]), codec.ErrInvalidInput)
	is(t, c.Update(append(append([][]byte(nil), shards[:5]...), nil), shards[:4]), codec.ErrInvalidInput)
	_, err = c.Verify(shards[:5])
	is(t, err, codec.ErrTooFewShards)
	is(t, c.Reconstruct([][]byte{nil, nil, nil, shards[3], shards[4], shards[5]}), codec.ErrTooFewShards)
	is(t, c.ReconstructSome(shards, make([]bool, 3)), codec.ErrTooFewShards)
	_, err = c.Split(nil)
	is(t, err, codec.ErrShortData)
	is(t, c.Join(io.Discard, shards, 401), codec.ErrShortData)
	is(t, c.Join(io.Discard, [][]byte{shards[0], nil, shards[2], shards[3]}, 400), codec.ErrReconstructRequired)
	is(t, c.Join(io.Discard, shards[:3], 1), codec.ErrTooFewShards)
	is(t, c.Join(io.Discard, shards, -1), codec.ErrShortData)
	for end, err := range map[string]error{
		"too few shards: shards has 5; allowed: 6":  c.Encode(shards[:5]),
		"too many shards: shards has 7; allowed: 6": c.Encode(append(shards[:6:6], shards[0])),
		"number 1 has 99 bytes, others 100":         c.Encode(append([][]byte{shards[0], shards[1][1:]}, shards[2:]...)),
		"index 4; allowed: 0 to 3":                  c.EncodeIdx(shards[0], 4, shards[4:]),
		"dataShard has 99 bytes, others 100":        c.EncodeIdx(shards[0][1:], 0, shards[4:]),
		"changed has 3; allowed: 4":                 c.Update(shards, shards[:3]),
		"3 are missing; allowed: at most 2":         c.Reconstruct(append(make([][]byte, 3), shards[3:]...)),
		"required has 3; allowed: 6":                c.ReconstructSome(shards, make([]bool, 3)),
		"outSize is 401; allowed: 0 to 400":         c.Join(io.Discard, shards, 401),
		"outSize is -1; allowed: 0 or more":         c.Join(io.Discard, shards, -1),
		"shards has 7; allowed: a multiple of 6":    c.EncodeStripes(append(shards[:6:6], shards[0])),
	} {
		if !strings.HasSuffix(err.Error(), ": "+end) {
			t.Errorf("%v does not end with %q", err, end)
		}
	}
}

// split tests that Join returns the bytes given to Split, for any spare capacity.
func (p Package) split(t *testing.T) {
	c, err := p.New(codec.Backblaze, 5, 2)
	is(t, err, nil)
	for length := 1; length < 40; length++ {
		for spare := 0; spare < 40; spare++ {
			data := make([]byte, length, length+spare)
			rand.New(rand.NewSource(int64(length))).Read(data)
			want := append([]byte(nil), data...)
			shards, err := c.Split(data)
			is(t, err, nil)
			is(t, c.Encode(shards), nil)
			shards[0], shards[4] = nil, nil
			is(t, c.ReconstructData(shards), nil)
			var joined bytes.Buffer
			is(t, c.Join(&joined, shards, length), nil)
			if !bytes.Equal(joined.Bytes(), want) {
				t.Fatal("Join: other data, length", length)
			}
		}
	}
}

// capacity tests that empty shards are rebuilt in their memory, and only required ones are.
func (p Package) capacity(t *testing.T) {
	c, err := p.New(codec.Cauchy, 4, 3)
	is(t, err, nil)
	want := NewShards(rand.New(rand.NewSource(1)), 7, 100).All
	is(t, c.Encode(want), nil)
	shards := Copy(want)
	place := &shards[1][0]
	shards[1], shards[2], shards[5] = shards[1][:0], nil, nil
	is(t, c.ReconstructSome(shards, []bool{false, true, false, false}), nil)
	if shards[2] != nil || shards[5] != nil || &shards[1][0] != place || !bytes.Equal(shards[1], want[1]) {
		t.Error("ReconstructSome rebuilt something else, or elsewhere")
	}
	is(t, c.ReconstructData(shards), nil)
	if shards[5] != nil {
		t.Error("ReconstructData rebuilt a parity")
	}
	is(t, c.Reconstruct(shards), nil)
	Same(t, shards, want, "Reconstruct")
	for _, shard := range c.AllocAligned(100) {
		if len(shard) != 100 {
			t.Error("AllocAligned: length", len(shard))
		}
	}
}

// deep calls work after `depth` frames of some hundred bytes, so that stacks grow, or do not grow, at every
// point of a call.
func deep(depth int, work func()) byte {
	var room [300]byte
	room[depth%len(room)] = byte(depth)
	if depth == 0 {
		work()
		return room[0]
	}
	return deep(depth-1, work) ^ room[depth%len(room)]
}

// load tests one codec with many goroutines whose stacks grow and shrink at random depths, a garbage collector
// that runs all the time and moves them, and a profiler whose signals arrive at any instruction.
func (p Package) load(t *testing.T) {
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	const k, m = 10, 4
	c, err := p.New(codec.Cauchy, k, m)
	is(t, err, nil)
	want := NewShards(rand.New(rand.NewSource(7)), k, 5000).All
	want = append(want, Parities(Rows(codec.Cauchy, k, m), want)...)
	var group sync.WaitGroup
	for n := 0; n < 64; n++ {
		group.Add(1)
		go func(random *rand.Rand) {
			defer group.Done()
			for turn := 0; turn < 20; turn++ {
				shards := append([][]byte(nil), want...)
				for i := k; i < k+m; i++ {
					shards[i] = make([]byte, 5000)
				}
				deep(random.Intn(60), func() {
					if err := c.Encode(shards); err != nil {
						t.Error(err)
					}
				})
				Lose(random, shards, m)
				deep(random.Intn(60), func() {
					if err := c.Reconstruct(shards); err != nil {
						t.Error(err)
					}
				})
				for i := range want {
					if !bytes.Equal(shards[i], want[i]) {
						t.Error("under load, shard", i, "differs")
						return
					}
				}
			}
		}(rand.New(rand.NewSource(int64(n))))
	}
	group.Wait()
}
