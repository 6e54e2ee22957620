package gfsmith

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"gfsmith.example/go/codec"
)

// granules has the bytes of which the length of a shard is a multiple.
var granules = map[WideCode]int{Leopard8: 64, Leopard16: 64, ReedSolomonSIMD: 2, LCH16: 2}

func wideOf(t *testing.T, code WideCode, k, m int) *Wide {
	w, err := NewWide(code, k, m)
	if err != nil {
		t.Fatal(err)
	}
	if w.DataShards() != k || w.ParityShards() != m || w.TotalShards() != k+m || w.ShardSizeMultiple() != granules[code] {
		t.Fatal(code, k, m)
	}
	return w
}

// stripe returns the shards of the vectors, encoded.
func stripe(t *testing.T, w *Wide, length int) [][]byte {
	shards := make([][]byte, w.TotalShards())
	for j := range shards {
		shards[j] = make([]byte, length)
		for i := range shards[j] {
			shards[j][i] = byte((j*31 + i*7 + j*i/5) % 251)
		}
	}
	if err := w.Encode(shards); err != nil {
		t.Fatal(err)
	}
	return shards
}

// The vectors are CRC-64/NVME of all parities of klauspost/reedsolomon and reed-solomon-simd 3.1.0.
func TestWideBytes(t *testing.T) {
	for _, c := range []struct {
		code         WideCode
		k, m, length int
		sum          uint64
	}{
		{Leopard8, 1, 1, 64, 0x6c7383702db660bb},
		{Leopard8, 17, 3, 8256, 0x93451d8cd8af4669},
		{Leopard8, 128, 128, 192, 0xfa7c1b99d4f14943},
		{Leopard16, 10, 4, 8256, 0x6549747b6d62b2f8},
		{Leopard16, 342, 681, 448, 0x79c52891fa95aeab},
		{Leopard16, 1000, 100, 192, 0xefa62e6385fefb5c},
		{ReedSolomonSIMD, 40, 60, 8254, 0x131e4f3a29addf23},
		{ReedSolomonSIMD, 342, 681, 448, 0xf3c53caa079fb0bd},
		{ReedSolomonSIMD, 1000, 900, 66, 0x9402b1717d866798},
	} {
		all := bytes.Join(stripe(t, wideOf(t, c.code, c.k, c.m), c.length)[c.k:], nil)
		if sum, err := UpdateChecksum(CRC64NVMe, 0, all); sum != c.sum || err != nil {
			t.Errorf("%s %d+%d: %x, expected %x; %v", c.code, c.k, c.m, sum, c.sum, err)
		}
	}
}

// From davxy/jam-test-vectors, erasure/tiny/ec-3.
func TestWideBytesOfJAM(t *testing.T) {
	shards := [][]byte{{0x61, 0x5d}, {0x17, 0}, {0, 0}, make([]byte, 2), make([]byte, 2), make([]byte, 2)}
	if err := wideOf(t, LCH16, 3, 3).Encode(shards); err != nil {
		t.Fatal(err)
	}
	if got := bytes.Join(shards[3:], nil); !bytes.Equal(got, []byte{0x59, 0xd0, 0x06, 0x15, 0x75, 0x6d}) {
		t.Errorf("%x", got)
	}
	if err := wideOf(t, LCH16, 3, 3).Encode([][]byte{{1}, {2}, {3}, {4}, {5}, {6}}); !errors.Is(err, ErrShardSize) {
		t.Error(err)
	}
}

// Every loss of m shards at the limits of the shapes, in new memory and in place.
func TestWideRepairs(t *testing.T) {
	for _, c := range []struct {
		code WideCode
		k, m int
	}{
		{Leopard8, 20, 4}, {Leopard8, 255, 1}, {Leopard8, 128, 128}, {Leopard16, 3, 40}, {Leopard16, 300, 30},
		{Leopard16, 65534, 1}, {Leopard16, 32768, 32767}, {LCH16, 32767, 32768}, {ReedSolomonSIMD, 3, 40},
	} {
		w := wideOf(t, c.code, c.k, c.m)
		whole := stripe(t, w, 64)
		shards, required := append([][]byte(nil), whole...), make([]bool, c.k+c.m)
		for n := 0; n < c.m; n++ {
			lost := (2*n + 1) % len(shards)
			for shards[lost] == nil {
				lost = (lost + 1) % len(shards)
			}
			shards[lost], required[lost] = nil, n == 0
		}
		some := append([][]byte(nil), shards...)
		if err := w.ReconstructSome(some, required); err != nil || !bytes.Equal(some[1], whole[1]) {
			t.Fatal(c, err)
		}
		for n := range some {
			if n != 1 && (some[n] == nil) != (shards[n] == nil) {
				t.Fatal(c, n)
			}
		}
		data := append([][]byte(nil), shards...)
		if err := w.ReconstructData(data); err != nil {
			t.Fatal(c, err)
		}
		if err := w.Reconstruct(shards); err != nil {
			t.Fatal(c, err)
		}
		for n := range shards {
			if !bytes.Equal(shards[n], whole[n]) || n < c.k && !bytes.Equal(data[n], whole[n]) {
				t.Fatal(c, n)
			}
		}
	}
}

// Stripes at equal distances, which are one call of the library, and others have the bytes of single calls.
func TestWideStripes(t *testing.T) {
	for _, c := range []struct {
		code                WideCode
		k, m, count, length int
	}{
		{Leopard8, 20, 4, 3, 64}, {Leopard16, 30, 7, 70, 64}, {LCH16, 5, 40, 9, 1022}, {ReedSolomonSIMD, 300, 30, 2, 4160},
	} {
		w := wideOf(t, c.code, c.k, c.m)
		n := c.k + c.m
		for gap := 0; gap < 3; gap++ { // with gap 2 the last stripe is elsewhere
			buffer := make([]byte, c.count*n*(c.length+gap))
			var shards, whole [][]byte
			for s := 0; s < c.count; s++ {
				one := stripe(t, w, c.length)
				whole = append(whole, one...)
				for i, shard := range one {
					place := buffer[(s*n+i)*(c.length+gap):][:c.length]
					if gap == 2 && s == c.count-1 {
						place = make([]byte, c.length)
					}
					if i < c.k {
						copy(place, shard)
					}
					shards = append(shards, place)
				}
			}
			if err := w.WithGoroutines(gap + 1).EncodeStripes(shards); err != nil {
				t.Fatal(c, err)
			}
			same(t, shards, whole)
			for i := range shards {
				if i%n%2 == 0 && i%n/2 < c.m {
					copy(shards[i], make([]byte, c.length))
					shards[i] = shards[i][:0]
				}
			}
			if err := w.ReconstructStripes(shards); err != nil {
				t.Fatal(c, err)
			}
			same(t, shards, whole)
		}
	}
}

func same(t *testing.T, shards, want [][]byte) {
	t.Helper()
	for n := range want {
		if !bytes.Equal(shards[n], want[n]) {
			t.Fatal("shard ", n)
		}
	}
}

func TestRefusedWideStripes(t *testing.T) {
	w := wideOf(t, Leopard16, 3, 2)
	buffer := make([]byte, 10*96)
	whole := func(length int) (shards [][]byte) {
		for n := 0; n < 10; n++ {
			shards = append(shards, buffer[n*length:(n+1)*length])
		}
		return shards
	}
	differ, lossy, odd := whole(64), whole(64), whole(96)
	differ[0] = nil
	for n := range lossy {
		if n%5 < 3 {
			lossy[n] = nil
		}
	}
	odd[1], odd[6] = nil, nil
	for n, c := range []struct{ got, want error }{
		{w.EncodeStripes(whole(64)[:9]), codec.ErrTooFewShards},
		{w.ReconstructStripes(whole(64)[:9]), codec.ErrTooFewShards},
		{w.EncodeStripes(whole(96)), codec.ErrShardSize},
		{w.EncodeStripes(differ), codec.ErrShardSize},
		{w.ReconstructStripes(odd), codec.ErrShardSize},
		{w.ReconstructStripes(differ), codec.ErrStripesDiffer},
		{w.ReconstructStripes(lossy), codec.ErrTooFewShards},
		{w.EncodeStripes(nil), nil},
		{w.ReconstructStripes(nil), nil},
	} {
		if !errors.Is(c.got, c.want) {
			t.Error(n, c.got)
		}
	}
	if odd[1] != nil || lossy[0] != nil || !bytes.Equal(buffer, make([]byte, len(buffer))) {
		t.Error("shards of a refused call changed")
	}
}

func TestRefusedWideShapes(t *testing.T) {
	for _, c := range []struct {
		code WideCode
		k, m int
		want error
	}{
		{"leopard", 4, 2, codec.ErrUnsupported}, {"", 4, 2, codec.ErrUnsupported}, {"cauchy", 4, 2, codec.ErrUnsupported},
		{Leopard16, 0, 1, codec.ErrInvShardNum}, {Leopard16, 1, 0, codec.ErrInvShardNum},
		{Leopard16, -1, 1, codec.ErrInvShardNum}, {Leopard16, 32768, 32768, codec.ErrInvShardNum},
		{Leopard16, 40000, 20000, codec.ErrInvShardNum}, {Leopard16, 1 << 32, 2, codec.ErrInvShardNum},
		{Leopard8, 100, 129, codec.ErrInvShardNum}, {Leopard8, 200, 33, codec.ErrInvShardNum},
		{LCH16, 20000, 40000, codec.ErrInvShardNum}, {ReedSolomonSIMD, 40000, 20000, codec.ErrInvShardNum},
	} {
		if _, err := NewWide(c.code, c.k, c.m); !errors.Is(err, c.want) {
			t.Error(c, err)
		}
	}
}

func TestRefusedWideCalls(t *testing.T) {
	w := wideOf(t, Leopard16, 3, 2)
	for _, length := range []int{1, 32, 63, 65, 96} {
		shards := make([][]byte, 5)
		for n := range shards {
			shards[n] = bytes.Repeat([]byte{0xee}, length)
		}
		shards[1] = nil
		if err := w.Reconstruct(shards); !errors.Is(err, codec.ErrShardSize) || shards[1] != nil {
			t.Error(length, err)
		}
		shards[1] = make([]byte, length)
		if err := w.Encode(shards); !errors.Is(err, codec.ErrShardSize) || shards[3][0] != 0xee {
			t.Error(length, err)
		}
	}
	shards := stripe(t, w, 64)
	short := append([][]byte(nil), shards...)
	short[4] = short[4][:32]
	lossy := append(append([][]byte(nil), nil, nil, nil), shards[3:]...)
	for n, c := range []struct{ got, want error }{
		{w.Encode(shards[:4]), codec.ErrTooFewShards},
		{w.Reconstruct(shards[:4]), codec.ErrTooFewShards},
		{w.Encode(short), codec.ErrShardSize},
		{w.Reconstruct(lossy), codec.ErrTooFewShards},
		{w.ReconstructSome(lossy, []bool{true, false, false}), codec.ErrTooFewShards},
		{w.ReconstructSome(shards, make([]bool, 4)), codec.ErrTooFewShards},
		{w.Reconstruct(make([][]byte, 5)), codec.ErrShardNoData},
	} {
		if !errors.Is(c.got, c.want) {
			t.Error(n, c.got)
		}
	}
	if lossy[0] != nil || lossy[1] != nil || lossy[2] != nil {
		t.Error("shards of a refused repair changed")
	}
}

// Calls that goroutines share give the bytes of others, also at addresses that are no multiples of 64, and are refused alike.
func TestWideGoroutines(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, c := range []struct {
		code         WideCode
		k, m, length int
	}{
		{Leopard16, 40, 20, 96<<10 + 64}, {LCH16, 20, 40, 96<<10 + 62}, {ReedSolomonSIMD, 20, 40, 80<<10 + 30}, {Leopard8, 40, 20, 64},
		{Leopard16, 40, 20, 64 << 10}, {ReedSolomonSIMD, 33000, 300, 128},
	} {
		alone := wideOf(t, c.code, c.k, c.m)
		whole := stripe(t, alone, c.length)
		for _, most := range []int{0, 1, 3, 64} {
			together := alone.WithGoroutines(2).WithGoroutines(most)
			shards := make([][]byte, len(whole))
			for n := range shards {
				shards[n] = append(make([]byte, n%5), whole[n]...)[n%5:]
			}
			for n := c.k; n < len(shards); n++ {
				copy(shards[n], make([]byte, c.length))
			}
			if err := together.Encode(shards); err != nil {
				t.Fatal(c, err)
			}
			for n := 0; n < c.m && 2*n < len(shards); n++ {
				shards[2*n] = nil
			}
			if err := together.Reconstruct(shards); err != nil {
				t.Fatal(c, err)
			}
			for n := range shards {
				if !bytes.Equal(shards[n], whole[n]) {
					t.Fatal(c, most, n)
				}
			}
			for n := 0; n <= c.m; n++ {
				shards[n] = nil
			}
			if err := together.Reconstruct(shards); !errors.Is(err, codec.ErrTooFewShards) || shards[0] != nil {
				t.Fatal(c, most, err)
			}
		}
	}
	shards := make([][]byte, 60)
	for n := range shards {
		shards[n] = make([]byte, 96<<10+2)
	}
	if err := wideOf(t, Leopard16, 40, 20).WithGoroutines(0).Encode(shards); !errors.Is(err, ErrShardSize) {
		t.Error(err)
	}
}

func TestMessagesOfWideShapes(t *testing.T) {
	_, err := NewWide(Leopard8, 200, 33)
	if err == nil || !strings.HasSuffix(err.Error(), "allowed: k >= 1, m >= 1, k + m <= 65535, and the least power of two >= m, plus k, at most 256") {
		t.Error(err)
	}
}
