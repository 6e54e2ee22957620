package gfsmith

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"testing"

	"gfsmith.example/go/codec"
)

func sketchOf(t *testing.T, tables *Sketch, offset uint64, piece []byte) []byte {
	sum := make([]byte, SketchBytes)
	if err := tables.Add(sum, offset, piece); err != nil {
		t.Fatal(err)
	}
	return sum
}

func sketchTables(t *testing.T) *Sketch {
	tables, err := NewSketch()
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// Sketches are those of tests/oracle/sketch.py, and the sum of those of pieces.
func TestSketch(t *testing.T) {
	tables, text := sketchTables(t), []byte("123456789")
	for offset, want := range map[uint64]string{0: "a70b027c003a0138", 1<<40 + 3: "fcee58cc32afc0ed"} {
		if got := hex.EncodeToString(sketchOf(t, tables, offset, text)); got != want {
			t.Errorf("%s, expected %s", got, want)
		}
		for cut := range text {
			sum := sketchOf(t, tables, offset+uint64(cut), text[cut:])
			if err := tables.Add(sum, offset, text[:cut]); err != nil || hex.EncodeToString(sum) != want {
				t.Errorf("%x %v, expected %s", sum, err, want)
			}
		}
	}
}

func TestSketchesOfParities(t *testing.T) {
	tables := sketchTables(t)
	c, err := New(Cauchy, 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	shards, sketches := make([][]byte, 6), make([][]byte, 6)
	for i := range shards {
		shards[i] = bytes.Repeat([]byte{byte(17*i + 1), byte(i), 3}, 1000)
	}
	if err := c.Encode(shards); err != nil {
		t.Fatal(err)
	}
	for i, shard := range shards {
		sketches[i] = sketchOf(t, tables, 0, shard)
	}
	if same, err := c.Verify(sketches); !same || err != nil {
		t.Error(same, err)
	}
	shards[1][2000] ^= 4
	sketches[1] = sketchOf(t, tables, 0, shards[1])
	if same, err := c.Verify(sketches); same || err != nil {
		t.Error(same, err)
	}
}

func TestRefusedSketches(t *testing.T) {
	tables, sum := sketchTables(t), make([]byte, SketchBytes)
	for _, err := range []error{
		tables.Add(nil, 0, []byte{1}),
		tables.Add(sum[:7], 0, []byte{1}),
		tables.Add(sum, math.MaxUint64, []byte{1}),
	} {
		if !errors.Is(err, codec.ErrChecksum) {
			t.Error(err)
		}
	}
	if !bytes.Equal(sum, make([]byte, SketchBytes)) || tables.Add(sum, math.MaxUint64, nil) != nil {
		t.Error(sum)
	}
}
