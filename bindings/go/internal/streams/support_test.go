// Package streams tests package streams with both packages gfsmith.
package streams

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand"
	"testing"

	"github.com/zeebo/xxh3"

	"gfsmith.example/go/gfsmith"
	"gfsmith.example/go/streams"
)

var (
	coders     = map[string]streams.Streams{"gfsmith": {New: gfsmith.New, NewMatrix: gfsmith.NewMatrix}}
	pure       = coders["gfsmith"]
	background = context.Background()
	small      = streams.Set{K: 4, M: 2, Block: 64, Name: "file"}
)

const (
	header = 512
	record = 32 + 64 // of the set small
)

func random(size int) []byte {
	data := make([]byte, size)
	rand.New(rand.NewSource(int64(size))).Read(data)
	return data
}

// split returns the shards of data.
func split(t testing.TB, coder streams.Streams, data []byte, set streams.Set) [][]byte {
	t.Helper()
	buffers := make([]bytes.Buffer, set.K+set.M)
	writers := make([]io.Writer, len(buffers))
	for i := range buffers {
		writers[i] = &buffers[i]
	}
	length, err := coder.Split(background, bytes.NewReader(data), writers, set)
	if err != nil || length != int64(len(data)) {
		t.Fatal(length, err)
	}
	shards := make([][]byte, len(buffers))
	for i := range buffers {
		shards[i] = buffers[i].Bytes()
	}
	return shards
}

// readers returns readers of shards, nil for nil.
func readers(shards [][]byte) []io.Reader {
	made := make([]io.Reader, len(shards))
	for i, shard := range shards {
		if shard != nil {
			made[i] = bytes.NewReader(shard)
		}
	}
	return made
}

// joined joins shards, and returns the original and the report.
func joined(t testing.TB, coder streams.Streams, shards []io.Reader) ([]byte, *streams.Report) {
	t.Helper()
	var out bytes.Buffer
	report, err := coder.Join(background, shards, &out)
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), report
}

// flipped returns copies of shards of which one has a wrong bit.
func flipped(shards [][]byte, shard, offset int) [][]byte {
	made := append([][]byte(nil), shards...)
	made[shard] = append([]byte(nil), shards[shard]...)
	made[shard][offset] ^= 1
	return made
}

// reseal gives a record of a shard a matching checksum.
func reseal(shard []byte, at, size int) {
	whole := shard[at : at+32+size]
	sum := xxh3.Hash128Seed(whole[16:], binary.LittleEndian.Uint64(shard[496:])).Bytes()
	copy(whole, sum[:])
}

func same(t testing.TB, got, want []byte, what string) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: %d bytes differ from the expected %d", what, len(got), len(want))
	}
}

func is(t testing.TB, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("%v instead of %v", got, want)
	}
}
