// Package codec is what the two packages gfsmith (../gfsmith and ../cgo) have in common: the Codec, whose methods
// are those of github.com/klauspost/reedsolomon's Encoder, on top of an Engine that does the work.
package codec

import (
	"errors"
	"fmt"
)

// Code is the name of a code, a way to choose the parity matrix c for k data and m parity shards:
// parity[i] = sum over j of c[i][j] * data[j], in GF(2^8) modulo 0x11d, byte by byte.
type Code string

const (
	Cauchy      Code = "cauchy"      // ISA-L's gf_gen_cauchy1_matrix
	Vandermonde Code = "vandermonde" // ISA-L's gf_gen_rs_matrix; not every shape is MDS, those are refused
	Backblaze   Code = "backblaze"   // klauspost/reedsolomon, MinIO, JavaReedSolomon
)

// MaxShards is the most shards of a codec, data and parities together.
const MaxShards = 255

// What can be wrong with a call. Where klauspost/reedsolomon has an error for the same mistake, it has the same
// name there; it is another value.
var (
	ErrTooFewShards        = errors.New("gfsmith: too few shards")
	ErrShardNoData         = errors.New("gfsmith: every shard is empty")
	ErrShardSize           = errors.New("gfsmith: shards differ in length")
	ErrShortData           = errors.New("gfsmith: less data than asked for")
	ErrReconstructRequired = errors.New("gfsmith: a data shard is missing; reconstruct first")
	ErrInvalidInput        = errors.New("gfsmith: a changed shard's old contents or a parity is missing")
	ErrInvShardNum         = errors.New("gfsmith: a shape or shard number that cannot be")
	ErrNotMDS              = errors.New("gfsmith: at this shape the code cannot repair every loss of m shards")
	ErrSingular            = errors.New("gfsmith: this loss cannot be repaired with this matrix")
	ErrUnsupported         = errors.New("gfsmith: this CPU or this build does not have it")
)

// Engine does the work of a Codec on shards that have been checked: their number is right, and those that are
// read or written have the same length, which is not 0. It may be used from several goroutines at once.
type Engine interface {
	// Encode computes all parities.
	Encode(data, parity [][]byte) error
	// Add adds the share of data shard index in every parity.
	Add(index int, shard []byte, parity [][]byte) error
	// Change does what Add does, with the sum of a shard's old and new contents.
	Change(index int, old, new []byte, parity [][]byte) error
	// Verify is whether the parities are those of the data.
	Verify(shards [][]byte) (bool, error)
	// Rebuild rebuilds the wanted shards, which have their length, of the present ones. Where that cannot be done,
	// it answers ErrSingular before it writes anything.
	Rebuild(shards [][]byte, present, wanted []bool) error
}

// Codec is a code at a shape. Its methods may be called from several goroutines at once. Shards are the k data
// shards, then the m parities, all of the same length. No method keeps or returns a shard's memory, but for Split.
type Codec struct {
	engine Engine
	k, m   int
}

// CheckShape is nil if a codec can have k data and m parity shards.
func CheckShape(k, m int) error {
	if k < 1 || m < 1 || k+m > MaxShards {
		return fmt.Errorf("%w: %d+%d; allowed: 1 or more of both, %d together", ErrInvShardNum, k, m, MaxShards)
	}
	return nil
}

// New makes a codec of an engine for k data and m parity shards.
func New(engine Engine, k, m int) *Codec { return &Codec{engine, k, m} }

// DataShards is k.
func (c *Codec) DataShards() int { return c.k }

// ParityShards is m.
func (c *Codec) ParityShards() int { return c.m }

// TotalShards is k + m.
func (c *Codec) TotalShards() int { return c.k + c.m }

// ShardSizeMultiple is 1: shards have any length.
func (c *Codec) ShardSizeMultiple() int { return 1 }

// size is the common length of the shards; those that are empty do not count if that is allowed.
func size(shards [][]byte, empty bool) (int, error) {
	length := 0
	for _, shard := range shards {
		if length == 0 {
			length = len(shard)
		}
	}
	if length == 0 {
		return 0, ErrShardNoData
	}
	for _, shard := range shards {
		if len(shard) != length && !(empty && len(shard) == 0) {
			return 0, ErrShardSize
		}
	}
	return length, nil
}

// Encode computes the parities, shards k to k + m - 1, of the data, shards 0 to k - 1.
func (c *Codec) Encode(shards [][]byte) error {
	if len(shards) != c.k+c.m {
		return ErrTooFewShards
	}
	if _, err := size(shards, false); err != nil {
		return err
	}
	readRange(shards[:c.k])
	writeRange(shards[c.k:])
	return c.engine.Encode(shards[:c.k], shards[c.k:])
}

// EncodeIdx adds the share of data shard index to all parities: of zeroed parities and every data shard once, in
// any order, it makes what Encode makes.
func (c *Codec) EncodeIdx(dataShard []byte, index int, parity [][]byte) error {
	if len(parity) != c.m {
		return ErrTooFewShards
	}
	if index < 0 || index >= c.k {
		return ErrInvShardNum
	}
	length, err := size(parity, false)
	if err != nil {
		return err
	}
	if len(dataShard) != length {
		return ErrShardSize
	}
	readRange([][]byte{dataShard})
	writeRange(parity)
	return c.engine.Add(index, dataShard, parity)
}

// Update brings the parities up to date after data shards changed. changed: k shards, the new contents, nil for
// those that stay. shards: the old contents of those that change, and the parities, which are overwritten.
func (c *Codec) Update(shards [][]byte, changed [][]byte) error {
	if len(shards) != c.k+c.m || len(changed) != c.k {
		return ErrTooFewShards
	}
	length, err := size(shards, true)
	if err != nil {
		return err
	}
	if fresh, err := size(changed, true); err != nil {
		return err
	} else if fresh != length {
		return ErrShardSize
	}
	for _, parity := range shards[c.k:] {
		if len(parity) == 0 {
			return ErrInvalidInput
		}
	}
	for j, shard := range changed {
		if len(shard) != 0 && len(shards[j]) == 0 {
			return ErrInvalidInput
		}
	}
	readRange(shards[:c.k])
	readRange(changed)
	writeRange(shards[c.k:])
	for j, shard := range changed {
		if len(shard) != 0 {
			if err := c.engine.Change(j, shards[j], shard, shards[c.k:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Verify is whether the parities are those of the data. Nothing is written.
func (c *Codec) Verify(shards [][]byte) (bool, error) {
	if len(shards) != c.k+c.m {
		return false, ErrTooFewShards
	}
	if _, err := size(shards, false); err != nil {
		return false, err
	}
	readRange(shards)
	return c.engine.Verify(shards)
}

// Flatten is a parity matrix, m rows of k elements, row by row in new memory, and k.
func Flatten(parity [][]byte) (flat []byte, k int, err error) {
	if len(parity) > 0 {
		k = len(parity[0])
	}
	if err := CheckShape(k, len(parity)); err != nil {
		return nil, 0, err
	}
	for i, row := range parity {
		if len(row) != k {
			return nil, 0, fmt.Errorf("%w: row %d of the matrix has %d elements, not %d", ErrInvShardNum, i, len(row), k)
		}
		flat = append(flat, row...)
	}
	return flat, k, nil
}
