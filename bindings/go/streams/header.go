package streams

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/zeebo/xxh3"

	"gfsmith.example/go/codec"
)

// Places of the fields of a header, and limits; docs/shard-format.md has both.
const (
	headerBytes = 512

	atVersion    = 8
	atLength     = 12
	atID         = 16
	atGeneration = 32
	atIndex      = 40
	atContent    = 44
	atPolynomial = 48
	atK          = 52
	atM          = 56
	atL          = 60
	atBlock      = 64
	atCode       = 72
	atName       = 104
	atEnd        = 360 // of the name
	atChecksum   = 496

	version       = 2
	maxBlock      = 1 << 20
	maxCode       = 31
	maxName       = 229
	maxGeneration = 1<<53 - 1
)

const magic = "\x89GFS\r\n\x1a\n"

var little = binary.LittleEndian

// fault returns the reason why a set is invalid, or "".
func (set Set) fault() string {
	switch {
	case codec.CheckShape(set.K, set.M) != nil:
		return "k and m must each be at least 1, together at most 255"
	case set.Block < 64 || set.Block > maxBlock || set.Block%64 != 0:
		return "the block size must be a multiple of 64, at most 1048576"
	case set.Content != Bytes && set.Content != Tar:
		return "the content must be 0 (bytes) or 1 (a tar archive)"
	case set.Generation < 1 || set.Generation > maxGeneration:
		return "the generation must be 1 to 9007199254740991"
	case set.Code == "" || len(set.Code) > maxCode || strings.IndexByte(string(set.Code), 0) >= 0:
		return "the name of a code has 1 to 31 bytes"
	case !set.groupsValid():
		return "lrc has l groups, 1 <= l <= k and l < m; other codes have l = 0"
	case len(set.Name) > maxName || strings.ContainsAny(set.Name, "/\x00") || set.Name == "." || set.Name == "..":
		return "the name of the original must be a file name of at most 229 bytes"
	}
	return ""
}

func (set Set) groupsValid() bool {
	if set.Code != Lrc {
		return set.L == 0
	}
	return set.L >= 1 && set.L <= set.K && set.L < set.M
}

// header returns the header of one shard of a valid set, and its tag.
func (set Set) header(index int) (raw []byte, tag uint64) {
	raw = make([]byte, headerBytes)
	copy(raw, magic)
	little.PutUint32(raw[atVersion:], version)
	little.PutUint32(raw[atLength:], headerBytes)
	copy(raw[atID:], set.ID[:])
	little.PutUint64(raw[atGeneration:], uint64(set.Generation))
	little.PutUint32(raw[atIndex:], uint32(index))
	little.PutUint32(raw[atContent:], uint32(set.Content))
	little.PutUint32(raw[atPolynomial:], codec.Polynomial)
	little.PutUint32(raw[atK:], uint32(set.K))
	little.PutUint32(raw[atM:], uint32(set.M))
	little.PutUint32(raw[atL:], uint32(set.L))
	little.PutUint32(raw[atBlock:], uint32(set.Block))
	copy(raw[atCode:atName], set.Code)
	copy(raw[atName:atEnd], set.Name)
	sum := xxh3.Hash128(raw[:atChecksum]).Bytes()
	copy(raw[atChecksum:], sum[:])
	return raw, little.Uint64(raw[atChecksum:])
}

// text returns the bytes before the first zero.
func text(field []byte) string {
	if end := bytes.IndexByte(field, 0); end >= 0 {
		field = field[:end]
	}
	return string(field)
}

// parse returns the set and the index of a header, and whether it is valid. A set has one encoding for each index, so
// the comparison with it also covers the checksum and the bytes without a field.
func parse(raw []byte) (set Set, index int, valid bool) {
	if len(raw) != headerBytes {
		return set, 0, false
	}
	number := func(at int) int { return int(little.Uint32(raw[at:])) }
	set = Set{
		Code: codec.Code(text(raw[atCode:atName])), K: number(atK), M: number(atM), L: number(atL),
		Block: number(atBlock), Content: number(atContent), Generation: int64(little.Uint64(raw[atGeneration:])),
		Name: text(raw[atName:atEnd]),
	}
	copy(set.ID[:], raw[atID:])
	index = number(atIndex)
	if set.fault() != "" || index < 0 || index >= set.K+set.M {
		return set, 0, false
	}
	again, _ := set.header(index)
	return set, index, bytes.Equal(again, raw)
}
