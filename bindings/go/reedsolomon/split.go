package reedsolomon

import (
	"io"

	"github.com/klauspost/reedsolomon/internal/codec"
)

// AllocAligned allocates shards of `each` bytes at multiples of 64.
func AllocAligned(shards, each int) [][]byte {
	pitch := (each + 63) &^ 63
	block := codec.Aligned(pitch * shards)
	made := make([][]byte, shards)
	for i := range made {
		made[i] = block[i*pitch:][:each:pitch]
	}
	return made
}

// Split implements Encoder.
func (r *reedSolomon) Split(data []byte) ([][]byte, error) {
	if len(data) == 0 {
		return nil, ErrShortData
	}
	if r.totalShards == 1 {
		return [][]byte{data}, nil
	}
	return split(data, (len(data)+r.dataShards-1)/r.dataShards, r.totalShards), nil
}

// split divides data into shards of `each` bytes. Those within its capacity are not copied.
func split(data []byte, each, shards int) [][]byte {
	length, room := len(data), data[:cap(data)]
	if len(room) > each*shards {
		room = room[:each*shards]
	}
	for i := length; i < len(room); i++ {
		room[i] = 0
	}
	made := make([][]byte, 0, shards)
	for len(room) >= each && len(made) < shards {
		made = append(made, room[:each:each])
		room = room[each:]
	}
	inside := len(made) * each
	if len(made) < shards {
		made = append(made, AllocAligned(shards-len(made), each)...)
	}
	if inside < length {
		copy(made[inside/each], data[inside:])
	}
	return made
}

// Join implements Encoder.
func (r *reedSolomon) Join(dst io.Writer, shards [][]byte, outSize int) error {
	return join(dst, shards, r.dataShards, outSize)
}

func join(dst io.Writer, shards [][]byte, dataShards, outSize int) error {
	if len(shards) < dataShards {
		return ErrTooFewShards
	}
	if outSize < 0 {
		return ErrShortData
	}
	found, used := 0, 0
	for used < dataShards && (used == 0 || found < outSize) {
		if shards[used] == nil {
			return ErrReconstructRequired
		}
		found += len(shards[used])
		used++
	}
	if found < outSize {
		return ErrShortData
	}
	for _, shard := range shards[:used] {
		if len(shard) > outSize {
			shard = shard[:outSize]
		}
		n, err := dst.Write(shard)
		if err != nil {
			return err
		}
		outSize -= n
	}
	return nil
}
