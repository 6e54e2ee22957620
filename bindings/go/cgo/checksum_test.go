//go:build cgo

package gfsmith

import (
	"errors"
	"math/rand"
	"strings"
	"testing"

	"gfsmith.example/go/codec"
	"gfsmith.example/go/internal/suite"
)

// Checksums of pieces and of whole data are those of Go.
func TestChecksums(t *testing.T) {
	for _, kind := range suite.Kinds {
		for _, length := range []int{0, 1, 16, 100, 1000, 70000} {
			data := make([]byte, length)
			rand.New(rand.NewSource(int64(length))).Read(data)
			head, tail := data[:length/3], data[length/3:]
			want := suite.Sum(kind, 0, data)
			first, err := UpdateChecksum(kind, 0, head)
			continued, again := UpdateChecksum(kind, first, tail)
			combined, failed := CombineChecksums(kind, first, suite.Sum(kind, 0, tail), len(tail))
			if err != nil || again != nil || failed != nil || continued != want || combined != want {
				t.Fatal(kind, length, err, again, failed, continued, combined, want)
			}
		}
	}
}

func TestSectorChecksums(t *testing.T) {
	data := make([]byte, 8192)
	rand.New(rand.NewSource(1)).Read(data)
	for _, kind := range suite.Kinds {
		for _, sector := range []int{512, 4096} {
			sums, err := SectorChecksums(kind, sector, data)
			if err != nil || len(sums) != len(data)/sector {
				t.Fatal(kind, sector, sums, err)
			}
			for n, sum := range sums {
				if sum != suite.Sum(kind, 0, data[n*sector:][:sector]) {
					t.Fatal(kind, sector, n, sum)
				}
			}
		}
		if sums, err := SectorChecksums(kind, 512, nil); err != nil || len(sums) != 0 {
			t.Fatal(sums, err)
		}
	}
}

func TestRefusedChecksums(t *testing.T) {
	one := func(_ uint64, err error) error { return err }
	all := func(_ []uint64, err error) error { return err }
	unknown := `"crc"; allowed: crc32c crc32 crc64_nvme crc64_ecma crc64_iso crc16_t10`
	for _, refused := range []struct {
		err error
		end string
	}{
		{one(UpdateChecksum("crc", 0, nil)), unknown},
		{one(CombineChecksums("crc", 0, 0, 1)), unknown},
		{all(SectorChecksums("crc", 512, nil)), unknown},
		{one(UpdateChecksum(CRC16T10, 1<<16, nil)), "0x10000; allowed: 16 bits"},
		{one(CombineChecksums(CRC32, 1<<32, 0, 1)), "0x100000000; allowed: 32 bits"},
		{one(CombineChecksums(CRC32, 0, 1<<32, 1)), "0x100000000; allowed: 32 bits"},
		{one(CombineChecksums(CRC32, 0, 0, -1)), "secondLength is -1; allowed: 0 or more"},
		{all(SectorChecksums(CRC16T10, 1024, nil)), "sectors of 1024 bytes; allowed: 512 or 4096"},
		{all(SectorChecksums(CRC32, 0, nil)), "sectors of 0 bytes; allowed: 1 or more"},
		{all(SectorChecksums(CRC32, -512, nil)), "sectors of -512 bytes; allowed: 1 or more"},
		{all(SectorChecksums(CRC32, 512, make([]byte, 100))), "100 bytes; allowed: multiples of 512, the bytes of a sector"},
	} {
		if !errors.Is(refused.err, codec.ErrChecksum) || !strings.HasSuffix(refused.err.Error(), ": "+refused.end) {
			t.Errorf("%v does not end with %q", refused.err, refused.end)
		}
	}
}
