// Command differential calls github.com/klauspost/reedsolomon with many arguments and prints every result: a digest of all
// shards, and the error. Two builds, with and without a `replace` line, must print the same. Its argument selects the
// shapes: few, all.
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand"
	"os"
	"strconv"
	"strings"

	"github.com/klauspost/reedsolomon"
)

var random *rand.Rand

// again makes the random numbers of the following calls independent of the previous ones.
func again() { random = rand.New(rand.NewSource(27)) }

// show prints the result of a call.
func show(call string, err error, shards ...[]byte) {
	sum := sha256.New()
	for _, shard := range shards {
		fmt.Fprintln(sum, len(shard), shard == nil)
		sum.Write(shard)
	}
	fmt.Printf("%s: %x %v\n", call, sum.Sum(nil)[:8], err)
}

var options = []struct {
	name   string
	chosen []reedsolomon.Option
}{
	{"default", nil},
	{"cauchy", []reedsolomon.Option{reedsolomon.WithCauchyMatrix()}},
	{"par1", []reedsolomon.Option{reedsolomon.WithPAR1Matrix()}},
	{"jerasure", []reedsolomon.Option{reedsolomon.WithJerasureMatrix()}},
	{"one parity", []reedsolomon.Option{reedsolomon.WithFastOneParityMatrix()}},
	{"goroutines", []reedsolomon.Option{reedsolomon.WithMaxGoroutines(7), reedsolomon.WithMinSplitSize(64)}},
	{"pure", []reedsolomon.Option{reedsolomon.WithAVX512(false), reedsolomon.WithAVXGFNI(false),
		reedsolomon.WithAVX2(false), reedsolomon.WithSSSE3(false), reedsolomon.WithNEON(false)}},
	{"avx2", []reedsolomon.Option{reedsolomon.WithAVX512(false), reedsolomon.WithAVXGFNI(false)}},
	{"ssse3", []reedsolomon.Option{reedsolomon.WithAVX512(false), reedsolomon.WithAVX2(false)}},
	{"no cache", []reedsolomon.Option{reedsolomon.WithInversionCache(false)}},
	// With its cache the original rebuilds wrong data.
	{"leopard", []reedsolomon.Option{reedsolomon.WithLeopardGF(true), reedsolomon.WithInversionCache(false)}},
	{"leopard 16", []reedsolomon.Option{reedsolomon.WithLeopardGF16(true)}},
}

var shapes = [][2]int{{1, 0}, {5, 0}, {1, 1}, {1, 3}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {10, 4}, {12, 4}, {16, 4}, {17, 3},
	{28, 4}, {20, 11}, {7, 30}, {32, 32}, {60, 5}, {128, 128}, {200, 56}, {255, 1},
	{300, 0}, {256, 1}, {256, 20}, {500, 300}, {65000, 600}}

func main() {
	for _, arguments := range [][2]int{{0, 1}, {1, -1}, {-1, -1}, {256, 1 << 62}, {65536, 1}, {65637, 1}} {
		for _, o := range options {
			_, err := reedsolomon.New(arguments[0], arguments[1], o.chosen...)
			show(fmt.Sprint("New ", arguments, o.name), err)
		}
		_, err := reedsolomon.NewStream(arguments[0], arguments[1])
		show(fmt.Sprint("NewStream ", arguments), err)
	}
	few := os.Args[1] == "few"
	for _, shape := range shapes {
		for _, o := range options {
			if few && shape[0]+shape[1] > 20 || !chosen(shape[0]+shape[1], o.name) {
				continue
			}
			encoder, err := reedsolomon.New(shape[0], shape[1], o.chosen...)
			name := fmt.Sprint(shape, " ", o.name)
			show("New "+name, err)
			if err == nil {
				all(name, encoder)
			}
		}
	}
	for _, shape := range shapes[2:12] {
		streams(shape[0], shape[1])
	}
	custom()
	lowLevel()
}

// chosen returns whether to call a shape with these options. Large shapes take long.
func chosen(total int, name string) bool {
	switch {
	case total > 256:
		return name == "default"
	case total > 50:
		return strings.Contains("default, pure, leopard, leopard 16", name)
	}
	return total < 37 || name != "par1" // the original does not find every repair
}

// made returns random shards, encoded.
func made(encoder reedsolomon.Encoder, size int) [][]byte {
	shards := encoder.(reedsolomon.Extensions).AllocAligned(size)
	for _, shard := range shards {
		random.Read(shard)
	}
	if err := encoder.Encode(shards); err != nil {
		panic(err)
	}
	return shards
}

func copied(shards [][]byte) [][]byte {
	other := make([][]byte, len(shards))
	for i, shard := range shards {
		other[i] = append([]byte(nil), shard...)
	}
	return other
}

func all(name string, encoder reedsolomon.Encoder) {
	again()
	shape := encoder.(reedsolomon.Extensions)
	k, m, multiple := shape.DataShards(), shape.ParityShards(), shape.ShardSizeMultiple()
	show(fmt.Sprint(name, k, m, shape.TotalShards(), multiple), nil)
	for _, length := range []int{1, 63, 64, 1000, 20000} {
		if k+m > 50 && length > 1000 || k+m > 256 && length > 64 {
			continue
		}
		length = (length + multiple - 1) / multiple * multiple
		name := name + " " + strconv.Itoa(length)
		shards := made(encoder, length)
		show(name+" Encode", nil, shards...)
		same, err := encoder.Verify(shards)
		show(fmt.Sprint(name, " Verify ", same), err)
		losses(name, encoder, shards, m)
		updates(name, encoder, shards, k)
		// The original panics without parity shards, and computes wrong bytes with AVX2 and more than 10 outputs.
		if m > 0 && (m <= 10 || !strings.Contains(name, "avx2")) {
			decode(name, shape, shards)
		}
		shards[k-1][length-1] ^= 1
		same, err = encoder.Verify(shards)
		show(fmt.Sprint(name, " Verify ", same), err)
	}
	splits(name, encoder, k)
	wrongs(name, encoder, k, m, multiple)
}

// losses repairs losses of every kind. For an even size the memory of lost shards is used again.
func losses(name string, encoder reedsolomon.Encoder, shards [][]byte, m int) {
	total := len(shards)
	for n := 0; n < 6; n++ {
		lost := copied(shards)
		count := random.Intn(m + 2)
		for _, i := range random.Perm(total)[:count%(total+1)] {
			lost[i] = nil
			if n%2 == 0 {
				lost[i] = make([]byte, 0, len(shards[0])+n)
			}
		}
		other, third := append([][]byte(nil), lost...), append([][]byte(nil), lost...)
		show(fmt.Sprint(name, " Reconstruct ", count), encoder.Reconstruct(lost), lost...)
		show(fmt.Sprint(name, " ReconstructData ", count), encoder.ReconstructData(other), other[:total-m]...)
		required := make([]bool, total)
		for i := range required {
			required[i] = random.Intn(2) == 0
		}
		if random.Intn(2) == 0 {
			required = required[:total-m]
		}
		err := encoder.ReconstructSome(third, required)
		for i, shard := range third {
			if i >= len(required) || !required[i] || err != nil {
				third[i] = nil
			} else if len(shard) == 0 {
				panic("not rebuilt")
			}
		}
		show(fmt.Sprint(name, " ReconstructSome ", count), err, third...)
	}
}

func updates(name string, encoder reedsolomon.Encoder, shards [][]byte, k int) {
	now := copied(shards)
	changed := make([][]byte, k)
	for j := range changed {
		if random.Intn(3) == 0 || j == 0 {
			changed[j] = make([]byte, len(shards[0]))
			random.Read(changed[j])
		} else if random.Intn(2) == 0 {
			now[j] = nil
		}
	}
	show(name+" Update", encoder.Update(now, changed), now[k:]...) // the original also changes the old contents
	parity := copied(shards[k:])
	show(name+" EncodeIdx", encoder.EncodeIdx(shards[k/2], k/2, parity), parity...)
}

// decode rebuilds shards in two steps.
func decode(name string, encoder reedsolomon.Extensions, shards [][]byte) {
	k, m, total := encoder.DataShards(), encoder.ParityShards(), len(shards)
	order := random.Perm(total)
	lost := random.Intn(m + 1)
	dst, expected := make([][]byte, total), make([]bool, total)
	for n, i := range order {
		if n < lost {
			dst[i] = make([]byte, len(shards[0]))
		} else {
			expected[i] = n < lost+k
		}
	}
	half := k / 2
	for _, step := range [][]int{order[lost : lost+half], order[lost+half : lost+k]} {
		input := make([][]byte, total)
		for _, i := range step {
			input[i] = shards[i]
		}
		show(name+" DecodeIdx", encoder.DecodeIdx(dst, expected, input), dst...)
	}
	show(name+" merge", encoder.DecodeIdx(dst, nil, append([][]byte(nil), dst...)), dst...)
	show(name+" DecodeIdx", encoder.DecodeIdx(dst[1:], expected, dst))
	show(name+" DecodeIdx", encoder.DecodeIdx(dst, expected, dst[1:]))
	show(name+" DecodeIdx", encoder.DecodeIdx(dst, expected[1:], dst))
	show(name+" DecodeIdx", encoder.DecodeIdx(dst, make([]bool, total), make([][]byte, total)))
	show(name+" DecodeIdx", encoder.DecodeIdx(dst, make([]bool, total), shards))
}

func splits(name string, encoder reedsolomon.Encoder, k int) {
	for _, length := range []int{0, 1, k, 1000, 1337} {
		for _, extra := range []int{0, 7, 5000} {
			data := make([]byte, length, length+extra)
			random.Read(data)
			shards, err := encoder.Split(data)
			show(fmt.Sprint(name, " Split ", length, extra), err, shards...)
			var out bytes.Buffer
			if err == nil {
				err = encoder.Join(&out, shards, length)
				show(name+" Join", err, out.Bytes())
				show(name+" Join", encoder.Join(&out, shards, len(shards[0])*k+1))
				show(name+" Join", encoder.Join(&out, shards[1:k], length))
				shards[k-1] = nil
				show(name+" Join", encoder.Join(&out, shards, length), out.Bytes())
			}
		}
	}
}

// wrongs makes calls with invalid arguments.
func wrongs(name string, encoder reedsolomon.Encoder, k, m, multiple int) {
	length := 2 * multiple
	fresh := func(change func(shards [][]byte)) [][]byte {
		shards := make([][]byte, k+m)
		for i := range shards {
			shards[i] = make([]byte, length)
		}
		change(shards)
		return shards
	}
	for n, shards := range [][][]byte{
		nil, make([][]byte, k+m), make([][]byte, k+m+1),
		fresh(func(s [][]byte) { s[0] = nil }),
		fresh(func(s [][]byte) { s[k+m-1] = s[k+m-1][:0] }),
		fresh(func(s [][]byte) { s[k-1] = s[k-1][:multiple] }),
		fresh(func(s [][]byte) { copy(s, make([][]byte, m+1)) }),
	} {
		name := fmt.Sprint(name, " wrong ", n)
		show(name+" Encode", encoder.Encode(shards))
		_, err := encoder.Verify(shards)
		show(name+" Verify", err)
		show(name+" Reconstruct", encoder.Reconstruct(append([][]byte(nil), shards...)))
		show(name+" ReconstructData", encoder.ReconstructData(append([][]byte(nil), shards...)))
		show(name+" ReconstructSome", encoder.ReconstructSome(append([][]byte(nil), shards...), make([]bool, k)))
		show(name+" ReconstructSome", encoder.ReconstructSome(shards, make([]bool, k+m+1)))
		changed := make([][]byte, k)
		show(name+" Update", encoder.Update(shards, changed))
		changed[0] = make([]byte, length)
		show(name+" Update", encoder.Update(shards, changed))
		changed[0] = make([]byte, length+1)
		show(name+" Update", encoder.Update(shards, changed))
		if len(shards) == k+m {
			for _, idx := range []int{-1, 0, k} {
				show(name+" EncodeIdx", encoder.EncodeIdx(shards[0], idx, shards[k:]))
			}
		}
	}
}

// streams calls a StreamEncoder with small blocks.
func streams(k, m int) {
	again()
	encoder, err := reedsolomon.NewStreamC(k, m, k%2 == 0, m%2 == 0, reedsolomon.WithStreamBlockSize(64))
	if err != nil {
		panic(err)
	}
	for _, length := range []int{0, 1, 64, 1000} {
		name := fmt.Sprint("stream ", k, m, length)
		data, parity := make([]bytes.Buffer, k), make([]bytes.Buffer, m)
		original := make([]byte, length*k)
		random.Read(original)
		show(name+" Split", encoder.Split(bytes.NewReader(original), writers(data), int64(len(original))), contents(data)...)
		show(name+" Encode", encoder.Encode(readers(data), writers(parity)), contents(parity)...)
		shards := append(append([]bytes.Buffer(nil), data...), parity...)
		same, err := encoder.Verify(readers(shards))
		show(fmt.Sprint(name, " Verify ", same), err)
		valid, fill, rebuilt := readers(shards), make([]io.Writer, k+m), bytes.Buffer{}
		valid[m/2], fill[m/2] = nil, &rebuilt
		show(name+" Reconstruct", encoder.Reconstruct(valid, fill), rebuilt.Bytes())
		fill[0] = &rebuilt
		show(name+" Reconstruct", encoder.Reconstruct(readers(shards), fill))
		var joined bytes.Buffer
		show(name+" Join", encoder.Join(&joined, readers(shards), int64(len(original))), joined.Bytes())
		show(name+" Join", encoder.Join(&joined, readers(shards), int64(len(original)+1)))
		valid = readers(shards)
		valid[0] = nil
		show(name+" Join", encoder.Join(&joined, valid, 1))
		show(name+" Encode", encoder.Encode(readers(data)[1:], writers(parity)))
		_, err = encoder.Verify(valid[1:])
		show(name+" Verify", err)
	}
}

func readers(shards []bytes.Buffer) []io.Reader {
	made := make([]io.Reader, len(shards))
	for i := range made {
		made[i] = bytes.NewReader(shards[i].Bytes())
	}
	return made
}

func writers(shards []bytes.Buffer) []io.Writer {
	made := make([]io.Writer, len(shards))
	for i := range made {
		made[i] = &shards[i]
	}
	return made
}

func contents(shards []bytes.Buffer) [][]byte {
	made := make([][]byte, len(shards))
	for i := range made {
		made[i] = shards[i].Bytes()
	}
	return made
}

func custom() {
	again()
	rows := [][]byte{{1, 1, 0, 0, 9}, {0, 0, 1, 1}, {1, 2, 3, 4}, {5, 6, 7, 8}}
	for _, shape := range [][2]int{{4, 3}, {4, 5}, {5, 3}, {3, 4}} {
		encoder, err := reedsolomon.New(shape[0], shape[1], reedsolomon.WithCustomMatrix(rows))
		show(fmt.Sprint("custom ", shape), err)
		if err == nil {
			show("custom", nil, made(encoder, 100)...)
		}
	}
}

func lowLevel() {
	again()
	var low reedsolomon.LowLevel
	in, out := make([]byte, 1000), make([]byte, 1010)
	random.Read(in)
	random.Read(out)
	for c := 0; c < 256; c++ {
		low.GalMulSliceXor(byte(c), in, out)
		show("GalMulSliceXor", nil, out)
		low.GalMulSlice(byte(c), in, out)
		show(fmt.Sprint("GalMulSlice", reedsolomon.Inv(byte(c))), nil, out)
	}
	low.WithOptions(reedsolomon.WithAVX512(false), reedsolomon.WithAVX2(false), reedsolomon.WithSSSE3(false))
	low.GalMulSliceXor(77, in, out)
	show("GalMulSliceXor", nil, out)
	for n := 0; n < 300; n++ {
		a, b := uint16(random.Intn(1<<16)), uint16(random.Intn(1<<16))
		show(fmt.Sprint("GF16Mul ", a, b, low.GF16Mul(a, b), low.GF16Mul(a, 0)), nil)
		low.GF16MulSliceXor(b, in[:960], out[:960])
		show("GF16MulSliceXor", nil, out)
	}
	var outs [8][]byte
	for i := range outs {
		outs[i] = append([]byte(nil), out[:960]...)
	}
	low.GF16MulSliceXor8(&[8]uint16{0, 1, 2, 3, 500, 6000, 65535, 40000}, in[:960], &outs)
	show("GF16MulSliceXor8", nil, outs[:]...)
}
