package codec

import (
	"errors"
	"fmt"
)

// Checksum is the name of a cyclic redundancy check. Its state starts at 0 and always equals the checksum of the bytes
// so far, as the standard defines it.
type Checksum string

const (
	CRC32C    Checksum = "crc32c"     // iSCSI, ext4, Ceph, HDFS.
	CRC32     Checksum = "crc32"      // IEEE 802.3, gzip, zlib.
	CRC64NVMe Checksum = "crc64_nvme" // NVMe, S3.
	CRC64ECMA Checksum = "crc64_ecma" // ECMA-182, reflected: xz, hash/crc64.
	CRC64ISO  Checksum = "crc64_iso"  // ISO 3309, reflected: hash/crc64.
	CRC16T10  Checksum = "crc16_t10"  // T10 DIF. Shards must be multiples of 512 bytes.
)

// T10Sector is the smaller sector of T10, of which the lengths of shards with CRC16T10 are multiples.
const T10Sector = 512

// ErrChecksum means that a checksum does not exist, has fewer bits than a number, or does not allow a length.
var ErrChecksum = errors.New("gfsmith: invalid checksum")

// Checksums is an Engine with calls that also compute the checksums of shards, in the pass over memory that computes or
// compares these. states has a valid number for each of the k + m shards, which is replaced by the checksum of all of
// its bytes.
type Checksums interface {
	Engine
	EncodeChecksums(kind Checksum, data, parity [][]byte, states []uint64) error
	// EncodeStripesChecksums is EncodeChecksums for each of many stripes, with k + m states of each.
	EncodeStripesChecksums(kind Checksum, length, count int, data, parity Grid, states []uint64) error
	VerifyChecksums(kind Checksum, shards [][]byte, states []uint64) (bool, error)
	// RebuildChecksums changes the states of the shards that the repair reads or writes. wrong has a flag for each shard:
	// the repair read it, and its checksum is not the expected one. expected may be nil.
	RebuildChecksums(kind Checksum, shards [][]byte, present, wanted []bool, states, expected []uint64) (wrong []bool, err error)
}

// Bits returns the number of bits of a checksum, 0 if it does not exist.
func (kind Checksum) Bits() int {
	switch kind {
	case CRC16T10:
		return 16
	case CRC32C, CRC32:
		return 32
	case CRC64NVMe, CRC64ECMA, CRC64ISO:
		return 64
	}
	return 0
}

// Check returns nil if the checksum exists and has the bits of all states.
func (kind Checksum) Check(states ...uint64) error {
	bits := kind.Bits()
	if bits == 0 {
		return fmt.Errorf("%w: %q; allowed: %s %s %s %s %s %s", ErrChecksum, string(kind),
			CRC32C, CRC32, CRC64NVMe, CRC64ECMA, CRC64ISO, CRC16T10)
	}
	for _, state := range states {
		if state>>bits != 0 {
			return fmt.Errorf("%w: %#x; allowed: %d bits", ErrChecksum, state, bits)
		}
	}
	return nil
}

// WholeSectors returns nil if a number of bytes is a multiple of a sector's.
func WholeSectors(length, sector int) error {
	if length%sector != 0 {
		return fmt.Errorf("%w: %d bytes; allowed: multiples of %d, the bytes of a sector", ErrChecksum, length, sector)
	}
	return nil
}

// checksums returns the engine's calls with checksums if it has them and the arguments are valid for `shards` shards.
func (c *Codec) checksums(kind Checksum, length, shards int, states []uint64) (Checksums, error) {
	engine, ok := c.single().(Checksums)
	if !ok {
		return nil, fmt.Errorf("%w: checksums of shards need cgo", ErrUnsupported)
	}
	if err := counted("states", len(states), shards); err != nil {
		return nil, err
	}
	if err := kind.Check(states...); err != nil {
		return nil, err
	}
	if kind == CRC16T10 {
		return engine, WholeSectors(length, T10Sector)
	}
	return engine, nil
}

// EncodeChecksums is Encode with the checksums of all shards, in one pass over memory and one goroutine. states: for
// each of the k + m shards 0, or the checksum of its bytes before; replaced by that of all of its bytes.
//
// Errors: those of Encode, ErrChecksum, ErrUnsupported without cgo.
func (c *Codec) EncodeChecksums(kind Checksum, shards [][]byte, states []uint64) error {
	engine, err := c.checked(kind, shards, states)
	if err != nil {
		return err
	}
	ReadRange(shards[:c.k])
	WriteRange(shards[c.k:])
	return engine.EncodeChecksums(kind, shards[:c.k], shards[c.k:], states)
}

// EncodeStripesChecksums is EncodeStripes with the checksums of all shards, in one pass over memory and one goroutine.
// states: as for EncodeChecksums, k + m of each stripe, stripe after stripe. Errors: those of EncodeStripes, ErrChecksum,
// ErrUnsupported without cgo.
func (c *Codec) EncodeStripesChecksums(kind Checksum, shards [][]byte, states []uint64) error {
	length, err := c.stripes(shards)
	if err != nil {
		return err
	}
	engine, err := c.checksums(kind, length, len(shards), states)
	if err != nil || length == 0 {
		return err
	}
	n := c.k + c.m
	c.touch(shards)
	data, together := grid(shards, n, 0, c.k, length)
	if parity, ok := grid(shards, n, c.k, n, length); ok && together {
		return engine.EncodeStripesChecksums(kind, length, len(shards)/n, data, parity, states)
	}
	return c.each(shards, func(s int, stripe [][]byte) error {
		return engine.EncodeChecksums(kind, stripe[:c.k], stripe[c.k:], states[s*n:(s+1)*n])
	})
}

// VerifyChecksums is Verify with the checksums of all shards: a scrub that reads every byte once, in one goroutine.
// Arguments and errors are those of EncodeChecksums.
func (c *Codec) VerifyChecksums(kind Checksum, shards [][]byte, states []uint64) (bool, error) {
	engine, err := c.checked(kind, shards, states)
	if err != nil {
		return false, err
	}
	ReadRange(shards)
	return engine.VerifyChecksums(kind, shards, states)
}

// checked returns the engine for a call on shards of which none is missing.
func (c *Codec) checked(kind Checksum, shards [][]byte, states []uint64) (Checksums, error) {
	if err := counted("shards", len(shards), c.k+c.m); err != nil {
		return nil, err
	}
	length, err := size(shards, false)
	if err != nil {
		return nil, err
	}
	return c.checksums(kind, length, len(shards), states)
}

// ReconstructChecksums is ReconstructSome with the checksums of the shards that the repair reads and writes, in one pass
// over memory and one goroutine. required: as for ReconstructSome, or nil for all missing shards. states: as for
// EncodeChecksums; those of other shards do not change. expected: the checksums that the shards which the repair reads
// must have after the call, or nil.
//
// wrong has a flag for each of the k + m shards: the repair read it, and its checksum is not the expected one. If one is
// set, the missing shards remain missing and the states do not change: repeat the call without that shard.
//
// Errors: those of ReconstructSome, ErrChecksum, ErrUnsupported without cgo.
func (c *Codec) ReconstructChecksums(kind Checksum, shards [][]byte, required []bool, states, expected []uint64) (wrong []bool, err error) {
	if required != nil {
		if err := c.flagged(required); err != nil {
			return nil, err
		}
	}
	asked, err := c.lost(shards, func(i int) bool { return required == nil || i < len(required) && required[i] })
	if err != nil {
		return nil, err
	}
	engine, err := c.checksums(kind, asked.length, len(shards), states)
	if err == nil && expected != nil {
		_, err = c.checksums(kind, asked.length, len(shards), expected)
	}
	if err != nil {
		return nil, err
	}
	if asked.repairs == 0 {
		return make([]bool, len(shards)), nil
	}
	old, before := append([][]byte(nil), shards...), append([]uint64(nil), states...)
	c.allocate(shards, asked)
	ReadRange(old)
	wrong, err = engine.RebuildChecksums(kind, shards, asked.present, asked.wanted, states, expected)
	if err != nil || anyOf(wrong) {
		copy(shards, old)
		copy(states, before)
	}
	return wrong, err
}

func anyOf(flags []bool) bool {
	for _, flag := range flags {
		if flag {
			return true
		}
	}
	return false
}
