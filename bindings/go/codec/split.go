package codec

import (
	"fmt"
	"io"
)

// Split divides data into k shards of the same length, the last ones padded with zeros, and appends m parities,
// to be computed by Encode. Shards that lie within the data are not copied; the data's capacity beyond its
// length is overwritten with zeros and used.
func (c *Codec) Split(data []byte) ([][]byte, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("%w: data is empty; allowed: 1 byte or more", ErrShortData)
	}
	each := (len(data) + c.k - 1) / c.k
	total := each * (c.k + c.m)
	room := data[:cap(data)]
	if len(room) > total {
		room = room[:total]
	}
	for i := len(data); i < len(room); i++ {
		room[i] = 0
	}
	inside := len(room) / each
	more := make([]byte, total-inside*each)
	copy(more, room[inside*each:])
	shards := make([][]byte, 0, c.k+c.m)
	for _, part := range [][]byte{room[:inside*each], more} {
		for ; len(part) > 0; part = part[each:] {
			shards = append(shards, part[:each:each])
		}
	}
	return shards, nil
}

// Join writes the first outSize bytes of the data shards to dst.
func (c *Codec) Join(dst io.Writer, shards [][]byte, outSize int) error {
	if len(shards) < c.k {
		return fmt.Errorf("%w: shards has %d; allowed: %d or more", ErrTooFewShards, len(shards), c.k)
	}
	if outSize < 0 {
		return fmt.Errorf("%w: outSize is %d; allowed: 0 or more", ErrShortData, outSize)
	}
	left := outSize
	for _, shard := range shards[:c.k] {
		if left > 0 && len(shard) == 0 {
			return ErrReconstructRequired
		}
		left -= len(shard)
	}
	if left > 0 {
		return fmt.Errorf("%w: outSize is %d; allowed: 0 to %d", ErrShortData, outSize, outSize-left)
	}
	left = outSize
	for _, shard := range shards[:c.k] {
		if len(shard) > left {
			shard = shard[:left]
		}
		if len(shard) == 0 {
			break
		}
		if _, err := dst.Write(shard); err != nil {
			return err
		}
		left -= len(shard)
	}
	return nil
}

// AllocAligned allocates k + m shards of `each` bytes, each at a multiple of 64 bytes of one block of memory.
func (c *Codec) AllocAligned(each int) [][]byte {
	pitch := (each + 63) &^ 63
	block := Aligned(pitch * (c.k + c.m))
	shards := make([][]byte, c.k+c.m)
	for i := range shards {
		shards[i] = block[i*pitch:][:each:each]
	}
	return shards
}
