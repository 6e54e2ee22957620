package gfsmith

/*
#include <stdlib.h>
#include "bridge.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"

	"gfsmith.example/go/codec"
)

// Checksum is the name of a cyclic redundancy check.
type Checksum = codec.Checksum

// The checksums.
const (
	CRC32C    = codec.CRC32C
	CRC32     = codec.CRC32
	CRC64NVMe = codec.CRC64NVMe
	CRC64ECMA = codec.CRC64ECMA
	CRC64ISO  = codec.CRC64ISO
	CRC16T10  = codec.CRC16T10
)

var kinds = map[Checksum]C.gfsmith_checksum{
	CRC32C:    C.GFSMITH_CRC32C,
	CRC32:     C.GFSMITH_CRC32,
	CRC64NVMe: C.GFSMITH_CRC64_NVME,
	CRC64ECMA: C.GFSMITH_CRC64_ECMA,
	CRC64ISO:  C.GFSMITH_CRC64_ISO,
	CRC16T10:  C.GFSMITH_CRC16_T10,
}

// UpdateChecksum returns the checksum of all bytes. state is 0, or the checksum of the bytes before data.
func UpdateChecksum(kind Checksum, state uint64, data []byte) (uint64, error) {
	if err := kind.Check(state); err != nil {
		return 0, err
	}
	codec.ReadRange([][]byte{data})
	sum := C.uint64_t(state)
	status := C.gfsmith_checksum_update(kinds[kind], &sum, C.size_t(len(data)), pointer(data))
	return uint64(sum), failure(C.int(status))
}

// CombineChecksums returns the checksum of two consecutive pieces from the checksum of each, without their bytes. second
// is the checksum of a piece of secondLength bytes, computed from 0.
func CombineChecksums(kind Checksum, first, second uint64, secondLength int) (uint64, error) {
	if err := kind.Check(first, second); err != nil {
		return 0, err
	}
	if secondLength < 0 {
		return 0, fmt.Errorf("%w: secondLength is %d; allowed: 0 or more", codec.ErrChecksum, secondLength)
	}
	sum := C.uint64_t(first)
	status := C.gfsmith_checksum_combine(kinds[kind], &sum, C.uint64_t(second), C.size_t(secondLength))
	return uint64(sum), failure(C.int(status))
}

// SectorChecksums returns the checksum of every sector of data, each from 0, for example T10's guard tags. With CRC16T10 a
// sector has 512 or 4096 bytes.
func SectorChecksums(kind Checksum, sector int, data []byte) ([]uint64, error) {
	if err := kind.Check(); err != nil {
		return nil, err
	}
	if kind == CRC16T10 && sector != codec.T10Sector && sector != 4096 {
		return nil, fmt.Errorf("%w: sectors of %d bytes; allowed: %d or 4096", codec.ErrChecksum, sector, codec.T10Sector)
	}
	if sector < 1 {
		return nil, fmt.Errorf("%w: sectors of %d bytes; allowed: 1 or more", codec.ErrChecksum, sector)
	}
	if err := codec.WholeSectors(len(data), sector); err != nil || len(data) == 0 {
		return nil, err
	}
	codec.ReadRange([][]byte{data})
	sums := make([]uint64, len(data)/sector)
	status := C.gfsmith_checksum_sectors(kinds[kind], C.size_t(sector), C.size_t(len(data)), pointer(data),
		(*C.uint64_t)(&sums[0]))
	return sums, failure(C.int(status))
}

var _ codec.Checksums = (*engine)(nil)

// numbers converts an array of C to a slice of Go.
func numbers(of *[C.GFSMITH_MAX_SHARDS]C.uint64_t, count int) []uint64 {
	return (*[C.GFSMITH_MAX_SHARDS]uint64)(unsafe.Pointer(of))[:count]
}

// summed runs a call with checksums. They are in C's memory during the call, because a structure with a pointer to Go
// memory cannot be passed.
func (e *engine) summed(kind Checksum, asked job, shards [][]byte, states, expected []uint64) (C.int, []bool) {
	sums := (*C.gfs_go_sums)(C.calloc(1, C.sizeof_gfs_go_sums))
	defer C.free(unsafe.Pointer(sums))
	sums.kind, sums.compared = kinds[kind], C.bool(expected != nil)
	copy(numbers(&sums.states, len(states)), states)
	copy(numbers(&sums.expected, len(expected)), expected)
	asked.sums = sums
	status := e.run(asked, shards[:e.k], shards[e.k:])
	copy(states, numbers(&sums.states, len(states)))
	wrong := make([]bool, len(shards))
	for n := range wrong {
		wrong[n] = bool(sums.wrong[n])
	}
	return status, wrong
}

func (e *engine) EncodeChecksums(kind Checksum, data, parity [][]byte, states []uint64) error {
	asked := job{operation: C.GFS_GO_ENCODE_SUMS, first: e.k}
	status, _ := e.summed(kind, asked, append(append([][]byte(nil), data...), parity...), states, nil)
	return failure(status)
}

func (e *engine) EncodeStripesChecksums(kind Checksum, length, count int, data, parity codec.Grid, states []uint64) error {
	defer runtime.KeepAlive(e)
	return failure(C.gfs_go_encode_sums(e.codec, kinds[kind], C.size_t(length), C.size_t(count),
		base(data), place(data, e.k), base(parity), place(parity, e.m), (*C.uint64_t)(&states[0])))
}

func (e *engine) VerifyChecksums(kind Checksum, shards [][]byte, states []uint64) (bool, error) {
	asked := job{operation: C.GFS_GO_VERIFY_SUMS, first: len(shards)}
	status, _ := e.summed(kind, asked, shards, states, nil)
	if status == C.GFS_GO_DIFFERENT {
		return false, nil
	}
	return status == C.GFSMITH_OK, failure(status)
}

func (e *engine) RebuildChecksums(kind Checksum, shards [][]byte, present, wanted []bool, states, expected []uint64) ([]bool, error) {
	asked := job{operation: C.GFS_GO_REBUILD_SUMS, first: len(shards), present: present, wanted: wanted}
	status, wrong := e.summed(kind, asked, shards, states, expected)
	return wrong, failure(status)
}
