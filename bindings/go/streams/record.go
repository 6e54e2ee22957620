package streams

import (
	"github.com/zeebo/xxh3"
)

// Records: docs/shard-format.md.
const (
	prefix       = 32 // bytes before the content
	atNumber     = 16
	atBytes      = 24
	atKind       = 28
	blockKind    = 1
	trailerKind  = 2
	trailerBytes = 24                    // of the content
	ending       = prefix + trailerBytes // bytes of the whole trailer
	maxLength    = 1 << 62
)

// trailer is the content of a trailer with its number.
type trailer struct {
	stripes, length int64
	sum             [16]byte
}

// seal writes the prefix of a record with its content.
func seal(record []byte, tag uint64, number int64, kind uint32) {
	little.PutUint64(record[atNumber:], uint64(number))
	little.PutUint32(record[atBytes:], uint32(len(record)-prefix))
	little.PutUint32(record[atKind:], kind)
	sum := xxh3.Hash128Seed(record[atNumber:], tag).Bytes()
	copy(record, sum[:])
}

// content returns the bytes of the content of a good record at the beginning of raw, 0 if there is none.
func content(raw []byte, tag uint64, number int64, kind uint32, most int) int {
	if len(raw) < prefix {
		return 0
	}
	size := little.Uint32(raw[atBytes:])
	if size < 1 || size > uint32(most) || int(size) > len(raw)-prefix ||
		little.Uint64(raw[atNumber:]) != uint64(number) || little.Uint32(raw[atKind:]) != kind {
		return 0
	}
	sum := xxh3.Hash128Seed(raw[atNumber:prefix+int(size)], tag).Bytes()
	if string(sum[:]) != string(raw[:len(sum)]) {
		return 0
	}
	return int(size)
}

// encode returns the record of a trailer.
func (end trailer) encode(tag uint64) []byte {
	record := make([]byte, ending)
	little.PutUint64(record[prefix:], uint64(end.length))
	copy(record[prefix+8:], end.sum[:])
	seal(record, tag, end.stripes, trailerKind)
	return record
}

// readTrailer returns the good trailer at the beginning of raw whose numbers match the shape of the set, or nil.
func readTrailer(set Set, raw []byte, tag uint64) *trailer {
	if len(raw) < ending {
		return nil
	}
	number, length := little.Uint64(raw[atNumber:]), little.Uint64(raw[prefix:])
	if content(raw, tag, int64(number), trailerKind, trailerBytes) != trailerBytes || length > maxLength {
		return nil
	}
	end := &trailer{stripes: int64(number), length: int64(length)}
	span := set.span()
	if end.stripes != (end.length+span-1)/span {
		return nil
	}
	copy(end.sum[:], raw[prefix+8:])
	return end
}

// span returns the bytes of the original in a complete stripe.
func (set Set) span() int64 { return int64(set.K) * int64(set.Block) }

// blockBytes returns the bytes of the blocks of a stripe of an original of this length.
func (set Set) blockBytes(length, stripe int64) int {
	rest := length - stripe*set.span()
	if rest >= set.span() {
		return set.Block
	}
	return int((rest + int64(set.K) - 1) / int64(set.K))
}
