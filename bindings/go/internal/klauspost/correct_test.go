//go:build cgo

package klauspost

import (
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"testing"

	c "gfsmith.example/go/cgo"
	"gfsmith.example/go/codec"
	"gfsmith.example/go/gfsmith"
	"gfsmith.example/go/internal/suite"
)

// damage changes 0 to m + 1 symbols of every position from `begin` on.
func damage(random *rand.Rand, shards [][]byte, m, begin int) {
	for at := begin; at < len(shards[0]); at++ {
		for _, shard := range random.Perm(len(shards))[:random.Intn(m+2)] {
			shards[shard][at] ^= byte(1 + random.Intn(255))
		}
	}
}

// matrices returns one codec of each package for named codes and for random matrices, sparse ones too.
func matrices(t *testing.T, random *rand.Rand, with func(name string, pure, linked *codec.Codec)) {
	both := func(name string, pure *codec.Codec, err error, linked *codec.Codec, failed error) {
		if err != nil || failed != nil {
			t.Fatal(name, err, failed)
		}
		with(name, pure, linked)
	}
	for _, shape := range []struct {
		code codec.Code
		k, m int
	}{{codec.Cauchy, 1, 4}, {codec.Cauchy, 2, 2}, {codec.Cauchy, 20, 7}, {codec.Backblaze, 9, 6}, {"lch", 16, 8},
		{codec.Vandermonde, 12, 4}, {codec.Vandermonde, 7, 2}} {
		pure, err := gfsmith.New(shape.code, shape.k, shape.m)
		linked, failed := c.New(shape.code, shape.k, shape.m)
		both(string(shape.code), pure, err, linked, failed)
	}
	for n := 0; n < 40; n++ {
		rows := make([][]byte, 1+random.Intn(5))
		k := 1 + random.Intn(8)
		for i := range rows {
			rows[i] = make([]byte, k)
			for j := range rows[i] {
				if n%2 == 0 || random.Intn(3) > 0 {
					rows[i][j] = byte(random.Intn(256))
				}
			}
		}
		pure, err := gfsmith.NewMatrix(rows)
		linked, failed := c.NewMatrix(rows)
		both(fmt.Sprint(rows), pure, err, linked, failed)
	}
}

// Both packages correct the same symbols, for every number of wrong symbols and of missing shards.
func TestSameCorrections(t *testing.T) {
	random := rand.New(rand.NewSource(5))
	refused, corrected := 0, 0
	matrices(t, random, func(name string, pure, linked *codec.Codec) {
		k, m := pure.DataShards(), pure.ParityShards()
		for missing := 0; missing <= m && missing < k+m; missing++ {
			shards := pure.AllocAligned(9000)
			for _, shard := range shards[:k] {
				random.Read(shard)
			}
			if err := pure.Encode(shards); err != nil {
				t.Fatal(err)
			}
			damage(random, shards, m, random.Intn(2)*8500)
			shards[k][0] ^= 1
			for _, shard := range random.Perm(k + m)[:missing] {
				shards[shard] = nil
			}
			other := suite.Copy(shards)
			found, err := pure.Correct(shards)
			wanted, failed := linked.Correct(other)
			if !errors.Is(err, failed) || !reflect.DeepEqual(found, wanted) {
				t.Fatalf("%s, %d missing: %v %v instead of %v %v", name, missing, found, err, wanted, failed)
			}
			suite.Same(t, shards, other, name)
			if err != nil {
				refused++
			}
			for _, count := range found.Symbols {
				corrected += count
			}
		}
	})
	if refused == 0 || corrected == 0 {
		t.Fatal(refused, corrected)
	}
}
