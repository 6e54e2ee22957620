package gfsmith

/*
#include <stdlib.h>
#include "bridge.h"
*/
import "C"

import (
	"fmt"
	"runtime"

	"gfsmith.example/go/codec"
)

// SketchBytes is the number of bytes of a sketch.
const SketchBytes = C.GFSMITH_SKETCH_BYTES

// Sketch has the tables of sketches: checksums that are linear over the field of all codecs of this package. So the
// sketches of a stripe's shards are a stripe of the same code: each shard is read once, where it is stored, and Verify of
// the codec compares the sketches. Goroutines may share it.
type Sketch struct {
	tables *C.gfsmith_sketch
}

// NewSketch creates the tables.
func NewSketch() (*Sketch, error) {
	var made *C.gfsmith_sketch
	if status := C.gfsmith_sketch_create(&made, C.GFSMITH_POLYNOMIAL); status != C.GFSMITH_OK {
		return nil, failure(C.int(status))
	}
	s := &Sketch{made}
	runtime.SetFinalizer(s, func(s *Sketch) { C.gfsmith_sketch_destroy(s.tables) })
	return s, nil
}

// Add adds the sketch of a piece of a shard to sum, which has SketchBytes bytes: zeros, or the sum of other pieces. offset
// is the place of the piece's first byte in the shard.
func (s *Sketch) Add(sum []byte, offset uint64, piece []byte) error {
	if len(sum) != SketchBytes {
		return fmt.Errorf("%w: a sketch of %d bytes; allowed: %d", codec.ErrChecksum, len(sum), SketchBytes)
	}
	if offset+uint64(len(piece)) < offset {
		return fmt.Errorf("%w: %d bytes at %d; allowed: an end below 2^64", codec.ErrChecksum, len(piece), offset)
	}
	codec.ReadRange([][]byte{piece})
	status := C.gfsmith_sketch_add(s.tables, pointer(sum), C.uint64_t(offset), C.size_t(len(piece)), pointer(piece))
	runtime.KeepAlive(s)
	return failure(C.int(status))
}
