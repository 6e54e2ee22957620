package suite

import (
	"math/rand"
	"testing"
)

// Fuzz tests any matrix, length and loss: parities equal those of the definition, and a repair restores the
// shards or is refused.
func Fuzz(f *testing.F, p Package) {
	f.Add(uint8(10), uint8(4), uint16(1000), int64(1), false)
	f.Add(uint8(1), uint8(1), uint16(1), int64(2), true)
	f.Add(uint8(40), uint8(9), uint16(65), int64(3), true)
	names := p.ISAs()
	f.Fuzz(func(t *testing.T, k, m uint8, length uint16, seed int64, sparse bool) {
		if k == 0 || k > 60 || m == 0 || m > 12 || length == 0 || length > 5000 {
			t.Skip("outside of the tested range")
		}
		random := rand.New(rand.NewSource(seed))
		rows := make([][]byte, m)
		for i := range rows {
			rows[i] = make([]byte, k)
			random.Read(rows[i])
			for j := range rows[i] {
				if sparse && random.Intn(2) == 0 {
					rows[i][j] = 0
				}
			}
		}
		if err := p.SetISA(names[random.Intn(len(names))]); err != nil {
			t.Fatal(err)
		}
		c, err := p.NewMatrix(rows)
		if err != nil {
			t.Fatal(err)
		}
		s := NewShards(random, int(k)+int(m), int(length))
		want := append(Copy(s.All[:k]), Parities(rows, s.All[:k])...)
		if err := c.Encode(s.All); err != nil {
			t.Fatal(err)
		}
		Same(t, s.All, want, "encoded")
		if !s.Untouched() {
			t.Fatal("wrote outside of the shards")
		}
		lost := append([][]byte(nil), s.All...)
		Lose(random, lost, 1+random.Intn(int(m)))
		if c.Reconstruct(lost) == nil {
			Same(t, lost, want, "repaired")
		}
	})
}
