// Package klauspost compares both packages with klauspost/reedsolomon: their results and their speed.
package klauspost

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"

	"github.com/klauspost/reedsolomon"

	"gfsmith.example/go/codec"
	"gfsmith.example/go/gfsmith"
	"gfsmith.example/go/internal/suite"
)

// The Codec can replace klauspost's, including its optional interface.
var (
	_ reedsolomon.Encoder    = (*codec.Codec)(nil)
	_ reedsolomon.Extensions = (*codec.Codec)(nil)
)

// ours contains the packages' New. cgo_test.go adds one.
var ours = map[string]func(codec.Code, int, int) (*codec.Codec, error){"gfsmith": gfsmith.New}

func every(t *testing.T, k, m int, run func(t *testing.T, ours, theirs reedsolomon.Encoder)) {
	for name, make := range ours {
		t.Run(fmt.Sprintf("%s/%d+%d", name, k, m), func(t *testing.T) {
			own, err := make(codec.Backblaze, k, m)
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := reedsolomon.New(k, m)
			if err != nil {
				t.Fatal(err)
			}
			run(t, own, theirs)
		})
	}
}

// Shards encoded by klauspost/reedsolomon are repaired here, and vice versa.
func TestBothWays(t *testing.T) {
	for _, shape := range [][2]int{{10, 4}, {12, 4}, {5, 2}, {2, 1}, {40, 10}} {
		k, m := shape[0], shape[1]
		every(t, k, m, func(t *testing.T, ours, theirs reedsolomon.Encoder) {
			for n, length := range []int{1, 16, 65, 1000, 8191, 40000} {
				random := rand.New(rand.NewSource(int64(n)))
				shards := suite.NewShards(random, k+m, length).All
				for _, way := range []struct{ write, read reedsolomon.Encoder }{{ours, theirs}, {theirs, ours}} {
					random.Read(shards[random.Intn(k)])
					if err := way.write.Encode(shards); err != nil {
						t.Fatal(err)
					}
					if ok, err := way.read.Verify(shards); !ok || err != nil {
						t.Fatal("length", length, "not verified", err)
					}
					lost := append([][]byte(nil), shards...)
					suite.Lose(random, lost, m)
					if err := way.read.Reconstruct(lost); err != nil {
						t.Fatal(err)
					}
					suite.Same(t, lost, shards, fmt.Sprint("length ", length))
				}
			}
		})
	}
}

// Split gives the same shards as klauspost's, and Update the same parities.
func TestSplitAndUpdate(t *testing.T) {
	every(t, 5, 2, func(t *testing.T, ours, theirs reedsolomon.Encoder) {
		for length := 1; length < 60; length++ {
			data := make([]byte, length, length+length%7*5)
			rand.New(rand.NewSource(int64(length))).Read(data)
			other := append(make([]byte, 0, cap(data)), data...)
			var made [2][][]byte
			for n, coder := range []reedsolomon.Encoder{ours, theirs} {
				shards, err := coder.Split([][]byte{data, other}[n])
				if err != nil {
					t.Fatal(err)
				}
				if err := coder.Encode(shards); err != nil {
					t.Fatal(err)
				}
				changed := make([][]byte, 5)
				changed[2] = bytes.Repeat([]byte{0x5a}, len(shards[2]))
				if err := coder.Update(shards, changed); err != nil {
					t.Fatal(err)
				}
				made[n] = append([][]byte{shards[0], shards[1]}, shards[3:]...) // klauspost's changes the old contents
			}
			suite.Same(t, made[0], made[1], fmt.Sprint("length ", length))
		}
	})
}
