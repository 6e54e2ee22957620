// Package suite contains the common tests of both packages gfsmith.
package suite

import (
	"bytes"
	"errors"
	"math/rand"
	"testing"

	"gfsmith.example/go/codec"
)

// Package is the tested interface of one of the two packages.
type Package struct {
	New       func(code codec.Code, k, m int) (*codec.Codec, error)
	NewMatrix func(parity [][]byte) (*codec.Codec, error)
	ISAs      func() []string
	SetISA    func(name string) error
	Checksums bool // the package has checksums
}

// Run runs all tests, those of results with every instruction set.
func Run(t *testing.T, p Package) {
	best := p.ISAs()[0]
	for _, name := range p.ISAs() {
		t.Run(name, func(t *testing.T) {
			if err := p.SetISA(name); err != nil {
				t.Fatal(err)
			}
			t.Run("Codes", p.codes)
			t.Run("Update", p.update)
			t.Run("Verify", p.verify)
			t.Run("Local", p.local)
			t.Run("Stripes", p.stripes)
			t.Run("Correct", p.correct)
			t.Run("Checksums", p.checksums)
			t.Run("ChecksumsOfStripes", p.summedStripes)
		})
	}
	if err := p.SetISA(best); err != nil {
		t.Fatal(err)
	}
	t.Run("Refusals", p.refusals)
	t.Run("Split", p.split)
	t.Run("Capacity", p.capacity)
	t.Run("Load", p.load)
	t.Run("Goroutines", p.goroutines)
	t.Run("Together", p.together)
	t.Run("RefusedStripes", p.refusedStripes)
	t.Run("OneCall", p.oneCall)
	t.Run("RefusedChecksums", p.refusedChecksums)
}

// Errors requires the errors of a package by its own names: shards without data, shards of several
// lengths, an unknown code and a shape that it does not have.
func (p Package) Errors(t *testing.T, noData, size, unsupported, shape error) {
	c, err := p.New(codec.Cauchy, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Encode(make([][]byte, 5)); !errors.Is(err, noData) {
		t.Error(err)
	}
	if err := c.Encode([][]byte{{1}, {2, 3}, {4}, {5}, {6}}); !errors.Is(err, size) {
		t.Error(err)
	}
	if _, err := p.New("none", 3, 2); !errors.Is(err, unsupported) && !errors.Is(err, shape) {
		t.Error(err)
	}
}

// Slow returns a * b modulo 0x11d, by the definition.
func Slow(a, b byte) byte {
	product := 0
	for bit := 7; bit >= 0; bit-- {
		product <<= 1
		if product > 255 {
			product ^= 0x11d
		}
		if a>>bit&1 == 1 {
			product ^= int(b)
		}
	}
	return byte(product)
}

// Rows returns the parity matrix of a code, by the definition.
func Rows(code codec.Code, k, m int) [][]byte {
	rows := make([][]byte, m)
	for i := range rows {
		rows[i] = make([]byte, k)
		for j := range rows[i] {
			switch code {
			case codec.Cauchy:
				for x := 1; x < 256; x++ {
					if Slow(byte(x), byte((k+i)^j)) == 1 {
						rows[i][j] = byte(x)
					}
				}
			case codec.Vandermonde:
				rows[i][j] = 1
				for n := 0; n < i*j; n++ {
					rows[i][j] = Slow(rows[i][j], 2)
				}
			}
		}
	}
	return rows
}

// Parities returns the parities of data, by the definition.
func Parities(rows [][]byte, data [][]byte) [][]byte {
	made := make([][]byte, len(rows))
	for i, row := range rows {
		made[i] = make([]byte, len(data[0]))
		for j, c := range row {
			var products [256]byte
			for x := range products {
				products[x] = Slow(c, byte(x))
			}
			for b, x := range data[j] {
				made[i][b] ^= products[x]
			}
		}
	}
	return made
}

// Shards contains random data and parities at odd addresses, between guard bytes that must not be changed.
type Shards struct {
	All    [][]byte
	memory []byte
	places []int
}

const fence = 0xa5

// NewShards creates count shards of the given length.
func NewShards(random *rand.Rand, count, length int) *Shards {
	s := &Shards{memory: bytes.Repeat([]byte{fence}, (count+1)*(length+67))}
	for i := 0; i < count; i++ {
		at := i*(length+67) + 67 - random.Intn(8)
		shard := s.memory[at : at+length : at+length]
		random.Read(shard)
		s.All, s.places = append(s.All, shard), append(s.places, at)
	}
	return s
}

// Untouched returns whether the guard bytes are unchanged.
func (s *Shards) Untouched() bool {
	left := append([]byte(nil), s.memory...)
	for i, at := range s.places {
		for b := range s.All[i] {
			left[at+b] = fence
		}
	}
	return bytes.Count(left, []byte{fence}) == len(left)
}

// Copy returns a deep copy.
func Copy(shards [][]byte) [][]byte {
	made := make([][]byte, len(shards))
	for i, shard := range shards {
		made[i] = append([]byte(nil), shard...)
	}
	return made
}

// Lose sets n random shards to nil.
func Lose(random *rand.Rand, shards [][]byte, n int) {
	for _, i := range random.Perm(len(shards))[:n] {
		shards[i] = nil
	}
}

// Same fails the test if shards differ.
func Same(t testing.TB, got, want [][]byte, what string) {
	t.Helper()
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("%s: shard %d differs", what, i)
		}
	}
}

func is(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%v instead of %v", got, want)
	}
}
