//go:build cgo

package klauspost

import (
	"bytes"
	"math/rand"
	"testing"

	c "gfsmith.example/go/cgo"
	"gfsmith.example/go/codec"
	"gfsmith.example/go/gfsmith"
)

// Both packages compute the same parities; only one has a formula for lch.
func TestSame(t *testing.T) {
	for _, shape := range []struct {
		code codec.Code
		k, m int
	}{{"lch", 16, 8}, {codec.Cauchy, 23, 7}, {codec.Vandermonde, 20, 4}, {codec.Backblaze, 33, 5}, {codec.Cauchy, 10, 4}} {
		without, err := gfsmith.New(shape.code, shape.k, shape.m)
		if err != nil {
			t.Fatal(err)
		}
		with, err := c.New(shape.code, shape.k, shape.m)
		if err != nil {
			t.Fatal(err)
		}
		shards := without.AllocAligned(777)
		for _, shard := range shards {
			rand.New(rand.NewSource(1)).Read(shard)
		}
		if err := without.Encode(shards); err != nil {
			t.Fatal(err)
		}
		if ok, err := with.Verify(shards); !ok || err != nil {
			t.Errorf("%s %d+%d: other parities %v", shape.code, shape.k, shape.m, err)
		}
		was := append([]byte(nil), shards[1]...)
		shards[1] = nil
		if err := with.Reconstruct(shards); err != nil || !bytes.Equal(shards[1], was) {
			t.Errorf("%s %d+%d: not repaired %v", shape.code, shape.k, shape.m, err)
		}
	}
	if _, err := gfsmith.New("lch", 5, 2); err == nil {
		t.Error("lch at a shape that gfsmith.toml does not list")
	}
}
