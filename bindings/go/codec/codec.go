// Package codec contains the common part of the two packages gfsmith (../gfsmith and ../cgo): the Codec, whose
// methods are those of github.com/klauspost/reedsolomon's Encoder, on top of an Engine that computes.
package codec

import (
	"errors"
	"fmt"
)

// Code is the name of a code, which determines the parity matrix c for k data and m parity shards: parity[i] =
// sum over j of c[i][j] * data[j], in GF(2^8) modulo 0x11d, byte by byte.
type Code string

const (
	// begin facts: codes in Go
	Vandermonde      Code = "vandermonde"       // ISA-L gf_gen_rs_matrix. Only shapes at which it is MDS.
	Cauchy           Code = "cauchy"            // ISA-L gf_gen_cauchy1_matrix.
	Backblaze        Code = "backblaze"         // Backblaze JavaReedSolomon, klauspost/reedsolomon, MinIO, crate reed-solomon-erasure.
	Lch              Code = "lch"               // The transform of Lin, Chung, Han (FOCS 2014) over M = 2^ceil(log2 m) points.
	CauchyOrig       Code = "cauchy_orig"       // Jerasure cauchy_original_coding_matrix, w = 8.
	CauchyGood       Code = "cauchy_good"       // Jerasure cauchy_good_general_coding_matrix, w = 8.
	PlankVandermonde Code = "plank_vandermonde" // J. S. Plank's tutorial (1997); Drucker, Gueron, Krasnov (2019): j^(i-1), i and j from 1. Only shapes at which it is MDS.
	ReedSolVan       Code = "reed_sol_van"      // Jerasure reed_sol_vandermonde_coding_matrix, w = 8; Ceph's default.
	ReedSolR6Op      Code = "reed_sol_r6_op"    // Jerasure reed_sol_r6_coding_matrix, w = 8. k >= 1, m = 2, k + m <= 255.
	Hdfs             Code = "hdfs"              // Hadoop RSUtil.genCauchyMatrix: RS-3-2, RS-6-3, RS-10-4.
	Raid6            Code = "raid6"             // Linux md and btrfs RAID-6: H. P. Anvin, The mathematics of RAID-6. k >= 1, m = 2, k + m <= 255.
	RaidZ            Code = "raidz"             // OpenZFS RAID-Z1, Z2 and Z3 (vdev_raidz). k >= 1, 1 <= m <= 3, k + m <= 255.
	SnapRaid         Code = "snapraid"          // SnapRAID, up to six parities. 1 <= k <= 251, 1 <= m <= 6, k + m <= 255.
	Zfec             Code = "zfec"              // Zfec, after L. Rizzo's fec; Tahoe-LAFS.
	// end facts
)

// MaxShards is the maximum number of shards of a codec, data and parities together.
const MaxShards = 255

// Errors of calls. An error that klauspost/reedsolomon has as well has the same name, but is another value.
var (
	ErrTooFewShards        = errors.New("gfsmith: too few shards")
	ErrShardNoData         = errors.New("gfsmith: every shard is empty")
	ErrShardSize           = errors.New("gfsmith: shards differ in length")
	ErrShortData           = errors.New("gfsmith: less data than requested")
	ErrReconstructRequired = errors.New("gfsmith: a data shard is missing; reconstruct first")
	ErrInvalidInput        = errors.New("gfsmith: a changed shard's old contents or a parity is missing")
	ErrInvShardNum         = errors.New("gfsmith: invalid shape or shard number")
	ErrNotMDS              = errors.New("gfsmith: at this shape the code cannot repair every loss of m shards")
	ErrSingular            = errors.New("gfsmith: this loss cannot be repaired with this matrix")
	ErrUnsupported         = errors.New("gfsmith: not supported by this CPU or this build")
)

// Engine computes for a Codec on checked shards: their number is right, and all shards that are read or written
// have the same non-zero length. Several goroutines may use it at once.
type Engine interface {
	// Encode computes all parities.
	Encode(data, parity [][]byte) error
	// Add adds the contribution of data shard index to every parity.
	Add(index int, shard []byte, parity [][]byte) error
	// Change does the same with the sum of a shard's old and new contents.
	Change(index int, old, new []byte, parity [][]byte) error
	// Verify returns whether the parities match the data.
	Verify(shards [][]byte) (bool, error)
	// Rebuild rebuilds the wanted shards, which have their length, from the present ones. If that is impossible,
	// it returns ErrSingular before it writes anything.
	Rebuild(shards [][]byte, present, wanted []bool) error
	// Correct corrects the present shards. counts has k + m + 2 numbers of positions: those at which each shard was
	// corrected, the intact ones, and the uncorrected ones.
	Correct(shards [][]byte, present []bool) (counts []int, err error)
}

// Codec is a code with a shape. Several goroutines may call its methods at once. Shards are the k data shards
// followed by the m parities, all of the same length. No method except Split keeps or returns a shard's memory.
type Codec struct {
	engine Engine
	k, m   int
}

// CheckShape returns nil if a codec can have k data and m parity shards.
func CheckShape(k, m int) error {
	if k < 1 || m < 1 || k > MaxShards || m > MaxShards-k {
		return fmt.Errorf("%w: %d+%d; allowed: 1 or more of both, %d together", ErrInvShardNum, k, m, MaxShards)
	}
	return nil
}

// New creates a codec with k data and m parity shards from an engine.
func New(engine Engine, k, m int) *Codec { return &Codec{engine, k, m} }

// DataShards returns k.
func (c *Codec) DataShards() int { return c.k }

// ParityShards returns m.
func (c *Codec) ParityShards() int { return c.m }

// TotalShards returns k + m.
func (c *Codec) TotalShards() int { return c.k + c.m }

// ShardSizeMultiple returns 1: shards have any length.
func (c *Codec) ShardSizeMultiple() int { return 1 }

// tooManyShards is an ErrTooFewShards, since klauspost/reedsolomon has one error for every wrong number of shards.
type tooManyShards struct{}

func (tooManyShards) Error() string { return "gfsmith: too many shards" }

func (tooManyShards) Is(target error) bool { return target == ErrTooFewShards }

// counted returns nil if there are as many shards as a call needs.
func counted(name string, count, needed int) error {
	if count == needed {
		return nil
	}
	err := ErrTooFewShards
	if count > needed {
		err = tooManyShards{}
	}
	return fmt.Errorf("%w: %s has %d; allowed: %d", err, name, count, needed)
}

// indexed returns nil for the index of a data shard.
func (c *Codec) indexed(index int) error {
	if index < 0 || index >= c.k {
		return fmt.Errorf("%w: index %d; allowed: 0 to %d", ErrInvShardNum, index, c.k-1)
	}
	return nil
}

// sized returns nil if a shard has the length of the others.
func sized(name string, shard []byte, length int) error {
	if len(shard) != length {
		return fmt.Errorf("%w: %s has %d bytes, others %d", ErrShardSize, name, len(shard), length)
	}
	return nil
}

// size returns the common length of the shards; empty ones are ignored if `empty` is true.
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
	for i, shard := range shards {
		if len(shard) != length && !(empty && len(shard) == 0) {
			return 0, fmt.Errorf("%w: number %d has %d bytes, others %d", ErrShardSize, i, len(shard), length)
		}
	}
	return length, nil
}

// Encode computes the parities, shards k to k + m - 1, of the data, shards 0 to k - 1.
func (c *Codec) Encode(shards [][]byte) error {
	if err := counted("shards", len(shards), c.k+c.m); err != nil {
		return err
	}
	if _, err := size(shards, false); err != nil {
		return err
	}
	ReadRange(shards[:c.k])
	WriteRange(shards[c.k:])
	return c.engine.Encode(shards[:c.k], shards[c.k:])
}

// EncodeIdx adds the contribution of data shard index to all parities. Starting with zeroed parities, one call
// for every data shard, in any order, gives the result of Encode.
func (c *Codec) EncodeIdx(dataShard []byte, index int, parity [][]byte) error {
	if err := counted("parity", len(parity), c.m); err != nil {
		return err
	}
	if err := c.indexed(index); err != nil {
		return err
	}
	length, err := size(parity, false)
	if err != nil {
		return err
	}
	if err := sized("dataShard", dataShard, length); err != nil {
		return err
	}
	ReadRange([][]byte{dataShard})
	WriteRange(parity)
	return c.engine.Add(index, dataShard, parity)
}

// Update updates the parities after a change of data shards. changed: k shards, the new contents, nil for
// unchanged ones. shards: the old contents of the changed ones, and the parities, which are updated in place.
func (c *Codec) Update(shards [][]byte, changed [][]byte) error {
	if err := counted("shards", len(shards), c.k+c.m); err != nil {
		return err
	}
	if err := counted("changed", len(changed), c.k); err != nil {
		return err
	}
	length, err := size(shards, true)
	if err != nil {
		return err
	}
	if fresh, err := size(changed, true); err != nil {
		return err
	} else if fresh != length {
		return fmt.Errorf("%w: those of changed have %d bytes, others %d", ErrShardSize, fresh, length)
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
	ReadRange(shards[:c.k])
	ReadRange(changed)
	WriteRange(shards[c.k:])
	for j, shard := range changed {
		if len(shard) != 0 {
			if err := c.engine.Change(j, shards[j], shard, shards[c.k:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Verify returns whether the parities match the data. Nothing is written.
func (c *Codec) Verify(shards [][]byte) (bool, error) {
	if err := counted("shards", len(shards), c.k+c.m); err != nil {
		return false, err
	}
	if _, err := size(shards, false); err != nil {
		return false, err
	}
	ReadRange(shards)
	return c.engine.Verify(shards)
}

// Flatten copies a parity matrix, m rows of k elements, row by row, and returns the copy and k.
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
