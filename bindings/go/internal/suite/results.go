package suite

import (
	"fmt"
	"math/rand"
	"testing"

	"gfsmith.example/go/codec"
)

var lengths = []int{1, 7, 16, 31, 64, 65, 127, 300, 1000, 8191, 40000}

// codes tests that parities equal those of the definition, any loss is repaired, and no other memory is
// written.
func (p Package) codes(t *testing.T) {
	for _, shape := range []struct {
		code codec.Code
		k, m int
	}{{codec.Cauchy, 10, 4}, {codec.Cauchy, 1, 1}, {codec.Vandermonde, 17, 3}, {codec.Cauchy, 3, 6}, {codec.Cauchy, 100, 20}} {
		c, err := p.New(shape.code, shape.k, shape.m)
		if err != nil {
			t.Fatal(err)
		}
		rows := Rows(shape.code, shape.k, shape.m)
		for n, length := range lengths {
			if shape.k > 20 && length > 1000 {
				continue
			}
			what := fmt.Sprintf("%s %d+%d, length %d", shape.code, shape.k, shape.m, length)
			random := rand.New(rand.NewSource(int64(n)))
			s := NewShards(random, shape.k+shape.m, length)
			want := append(Copy(s.All[:shape.k]), Parities(rows, s.All[:shape.k])...)
			if err := c.Encode(s.All); err != nil {
				t.Fatal(what, err)
			}
			Same(t, s.All, want, what)
			if !s.Untouched() {
				t.Fatal(what, "wrote outside of the shards")
			}
			lost := append([][]byte(nil), s.All...)
			Lose(random, lost, 1+random.Intn(shape.m))
			if err := c.Reconstruct(lost); err != nil {
				t.Fatal(what, err)
			}
			Same(t, lost, want, what+" repaired")
		}
	}
}

// update tests that Update and EncodeIdx give the result of Encode.
func (p Package) update(t *testing.T) {
	const k, m = 10, 4
	c, err := p.New(codec.Backblaze, k, m)
	if err != nil {
		t.Fatal(err)
	}
	for n, length := range lengths {
		random := rand.New(rand.NewSource(int64(n)))
		shards := NewShards(random, k+m, length).All
		if err := c.Encode(shards); err != nil {
			t.Fatal(err)
		}
		changed, old := make([][]byte, k), Copy(shards)
		want := Copy(shards)
		for _, j := range random.Perm(k)[:1+random.Intn(k)] {
			changed[j] = make([]byte, length)
			random.Read(changed[j])
			want[j] = changed[j]
		}
		for j := range changed {
			if changed[j] == nil {
				old[j] = nil // unchanged shards may be nil
			}
		}
		if err := c.Encode(want); err != nil {
			t.Fatal(err)
		}
		if err := c.Update(old, changed); err != nil {
			t.Fatal(err)
		}
		Same(t, old[k:], want[k:], fmt.Sprint("Update, length ", length))
		added := NewShards(random, m, length).All
		for _, shard := range added {
			copy(shard, make([]byte, length))
		}
		for _, j := range random.Perm(k) {
			if err := c.EncodeIdx(want[j], j, added); err != nil {
				t.Fatal(err)
			}
		}
		Same(t, added, want[k:], fmt.Sprint("EncodeIdx, length ", length))
	}
}

// verify tests that one wrong bit anywhere is detected.
func (p Package) verify(t *testing.T) {
	const k, m = 10, 4
	c, err := p.New(codec.Cauchy, k, m)
	if err != nil {
		t.Fatal(err)
	}
	for n, length := range lengths {
		random := rand.New(rand.NewSource(int64(n)))
		shards := NewShards(random, k+m, length).All
		if err := c.Encode(shards); err != nil {
			t.Fatal(err)
		}
		if ok, err := c.Verify(shards); !ok || err != nil {
			t.Fatal("length", length, "not verified", err)
		}
		for i := range shards {
			at, bit := random.Intn(length), byte(1)<<random.Intn(8)
			shards[i][at] ^= bit
			if ok, err := c.Verify(shards); ok || err != nil {
				t.Fatal("length", length, "a wrong bit in shard", i, "not seen", err)
			}
			shards[i][at] ^= bit
		}
	}
}

// local tests a matrix with zeros, for which some losses of m shards cannot be repaired: those are refused and
// change nothing, the others are repaired.
func (p Package) local(t *testing.T) {
	rows := [][]byte{{1, 1, 1, 0, 0, 0}, {0, 0, 0, 1, 1, 1}, {1, 2, 4, 8, 16, 32}}
	c, err := p.NewMatrix(rows)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewSource(1))
	shards := NewShards(random, 9, 100).All
	if err := c.Encode(shards); err != nil {
		t.Fatal(err)
	}
	Same(t, shards[6:], Parities(rows, shards[:6]), "local code")
	for _, loss := range []struct {
		lost []int
		want error
	}{{[]int{0, 1, 3}, nil}, {[]int{0, 6, 7}, nil}, {[]int{6, 7, 8}, nil}, {[]int{0, 1, 2}, codec.ErrSingular}} {
		broken := append([][]byte(nil), shards...)
		for _, i := range loss.lost {
			broken[i] = nil
		}
		is(t, c.Reconstruct(broken), loss.want)
		if loss.want == nil {
			Same(t, broken, shards, fmt.Sprint("loss of ", loss.lost))
		}
		for _, i := range loss.lost {
			if loss.want != nil && broken[i] != nil {
				t.Error("a refused loss changed shard", i)
			}
		}
	}
}
