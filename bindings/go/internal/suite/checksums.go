package suite

import (
	"hash/crc32"
	"hash/crc64"
	"math/rand"
	"strings"
	"testing"

	"gfsmith.example/go/codec"
)

// Kinds are all checksums.
var Kinds = []codec.Checksum{
	codec.CRC32C, codec.CRC32, codec.CRC64NVMe, codec.CRC64ECMA, codec.CRC64ISO, codec.CRC16T10,
}

// Sum returns the checksum of data after a state: Go's own, and T10's bit by bit.
func Sum(kind codec.Checksum, state uint64, data []byte) uint64 {
	switch kind {
	case codec.CRC32C:
		return uint64(crc32.Update(uint32(state), crc32.MakeTable(crc32.Castagnoli), data))
	case codec.CRC32:
		return uint64(crc32.Update(uint32(state), crc32.IEEETable, data))
	case codec.CRC64NVMe:
		return crc64.Update(state, crc64.MakeTable(0x9a6c9329ac4bc9b5), data) // ad93d23594c93659 in reverse
	case codec.CRC64ECMA:
		return crc64.Update(state, crc64.MakeTable(crc64.ECMA), data)
	case codec.CRC64ISO:
		return crc64.Update(state, crc64.MakeTable(crc64.ISO), data)
	}
	register := uint16(state)
	for _, x := range data {
		register ^= uint16(x) << 8
		for bit := 0; bit < 8; bit++ {
			carry := register >> 15
			register = register<<1 ^ carry*0x8bb7
		}
	}
	return uint64(register)
}

func sums(kind codec.Checksum, shards [][]byte, states []uint64) []uint64 {
	made := make([]uint64, len(shards))
	for i, shard := range shards {
		made[i] = Sum(kind, states[i], shard)
	}
	return made
}

// equal fails the test if numbers differ.
func equal(t *testing.T, got, want []uint64, what string) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: checksum %d is %#x, not %#x", what, i, got[i], want[i])
		}
	}
}

// flagged fails the test unless exactly these flags are set.
func flagged(t *testing.T, flags []bool, indices ...int) {
	t.Helper()
	found := 0
	for _, i := range indices {
		if flags[i] {
			found++
		}
	}
	for _, flag := range flags {
		if flag {
			found--
		}
	}
	if found != 0 || len(indices) > 0 && !flags[indices[0]] {
		t.Fatal(flags, "instead of", indices)
	}
}

// checksums tests that calls with checksums compute those of Go, or that they are refused without cgo. With 40 shards
// they pass an array of pointers.
func (p Package) checksums(t *testing.T) {
	for _, k := range []int{4, 38} {
		c, err := p.New(codec.Cauchy, k, 2)
		is(t, err, nil)
		if !p.Checksums {
			unsupported(t, c)
			continue
		}
		for _, kind := range Kinds {
			for _, length := range []int{512, 1024, 5 * 512} {
				if kind != codec.CRC16T10 {
					length -= 3
				}
				summed(t, c.WithGoroutines(2), kind, length)
			}
		}
	}
}

// summedStripes compares calls with checksums on many stripes with calls on one.
func (p Package) summedStripes(t *testing.T) {
	if !p.Checksums {
		return
	}
	random := rand.New(rand.NewSource(9))
	for _, k := range []int{4, 38} {
		c, err := p.New(codec.Cauchy, k, 2)
		is(t, err, nil)
		n := c.TotalShards()
		for name, place := range layouts {
			for _, count := range []int{1, 3, 20} {
				shards, states := place(count, n, 1024), make([]uint64, count*n)
				for i := range shards {
					random.Read(shards[i])
					states[i] = uint64(random.Uint32())
				}
				want, wanted := Copy(shards), append([]uint64(nil), states...)
				for s := 0; s < count; s++ {
					is(t, c.EncodeChecksums(codec.CRC32C, want[s*n:(s+1)*n], wanted[s*n:(s+1)*n]), nil)
				}
				is(t, c.EncodeStripesChecksums(codec.CRC32C, shards, states), nil)
				Same(t, shards, want, name)
				equal(t, states, wanted, name)
			}
		}
		is(t, c.EncodeStripesChecksums(codec.CRC32C, nil, nil), nil)
	}
}

func unsupported(t *testing.T, c *codec.Codec) {
	shards := NewShards(rand.New(rand.NewSource(1)), c.TotalShards(), 64).All
	before, states := Copy(shards), make([]uint64, len(shards))
	is(t, c.EncodeChecksums(codec.CRC32, shards, states), codec.ErrUnsupported)
	is(t, c.EncodeStripesChecksums(codec.CRC32, shards, states), codec.ErrUnsupported)
	_, err := c.VerifyChecksums(codec.CRC32, shards, states)
	is(t, err, codec.ErrUnsupported)
	Same(t, shards, before, "refused")
	shards[1] = nil
	_, err = c.ReconstructChecksums(codec.CRC32, shards, nil, states, nil)
	is(t, err, codec.ErrUnsupported)
	if shards[1] != nil {
		t.Error("a refused call rebuilt a shard")
	}
}

func summed(t *testing.T, c *codec.Codec, kind codec.Checksum, length int) {
	n := c.TotalShards()
	s := NewShards(rand.New(rand.NewSource(int64(length))), n, length)
	want, states := Copy(s.All), make([]uint64, n)
	is(t, c.Encode(want), nil)
	is(t, c.EncodeChecksums(kind, s.All, states), nil)
	Same(t, s.All, want, string(kind))
	stored := sums(kind, want, make([]uint64, n))
	equal(t, states, stored, string(kind))

	same, err := c.VerifyChecksums(kind, s.All, states)
	is(t, err, nil)
	equal(t, states, sums(kind, want, stored), "continued "+string(kind))
	s.All[n-1][length-1] ^= 1
	differs, err := c.VerifyChecksums(kind, s.All, make([]uint64, n))
	is(t, err, nil)
	if !same || differs {
		t.Fatal(kind, same, differs)
	}
	s.All[n-1][length-1] ^= 1
	repaired(t, c, kind, s.All, stored)
	if !s.Untouched() {
		t.Fatal("wrote outside of the shards")
	}
}

// repaired tests a repair, and one that reads a wrong shard.
func repaired(t *testing.T, c *codec.Codec, kind codec.Checksum, shards [][]byte, stored []uint64) {
	want, n := Copy(shards), len(shards)
	shards[1] = shards[1][:0]
	states := make([]uint64, n)
	wrong, err := c.ReconstructChecksums(kind, shards, nil, states, stored)
	is(t, err, nil)
	flagged(t, wrong)
	Same(t, shards, want, "repaired")
	unread := 0
	for i, state := range states {
		if state == 0 {
			unread++
		} else if state != stored[i] {
			t.Fatalf("checksum %d after a repair is %#x, not %#x", i, state, stored[i])
		}
	}
	if unread != 1 || states[1] == 0 {
		t.Fatal("a repair of one of two parities' losses reads k shards and writes one: ", states)
	}

	states = make([]uint64, n)
	shards[1] = nil
	shards[0][3] ^= 1
	wrong, err = c.ReconstructChecksums(kind, shards, make([]bool, n-2), states, stored)
	is(t, err, nil) // nothing is required
	flagged(t, wrong)
	wrong, err = c.ReconstructChecksums(kind, shards, nil, states, stored)
	is(t, err, nil)
	flagged(t, wrong, 0)
	if shards[1] != nil {
		t.Error("rebuilt from a wrong shard")
	}
	equal(t, states, make([]uint64, n), "after a wrong shard")
	kept := shards[0]
	shards[0] = nil
	wrong, err = c.ReconstructChecksums(kind, shards, nil, states, stored)
	is(t, err, nil)
	flagged(t, wrong)
	Same(t, shards, want, "repaired without the wrong shard")
	shards[0] = append(kept[:0], want[0]...)
}

// refusedChecksums tests that mistakes return the right error, and change nothing.
func (p Package) refusedChecksums(t *testing.T) {
	if !p.Checksums {
		return
	}
	c, err := p.New(codec.Cauchy, 4, 2)
	is(t, err, nil)
	shards := NewShards(rand.New(rand.NewSource(1)), 6, 100).All
	before := Copy(shards)
	lost := append([][]byte{nil}, shards[1:]...)
	for _, wrong := range []struct {
		kind   codec.Checksum
		states []uint64
		err    error
		end    string
	}{
		{"crc", make([]uint64, 6), codec.ErrChecksum, `"crc"; allowed: crc32c crc32 crc64_nvme crc64_ecma crc64_iso crc16_t10`},
		{codec.CRC32, []uint64{0, 1 << 32, 0, 0, 0, 0}, codec.ErrChecksum, "0x100000000; allowed: 32 bits"},
		{codec.CRC32, make([]uint64, 5), codec.ErrTooFewShards, "states has 5; allowed: 6"},
		{codec.CRC16T10, make([]uint64, 6), codec.ErrChecksum, "100 bytes; allowed: multiples of 512, the bytes of a sector"},
	} {
		states := append([]uint64(nil), wrong.states...)
		errors := []error{c.EncodeChecksums(wrong.kind, shards, states), c.EncodeStripesChecksums(wrong.kind, shards, states)}
		_, err = c.VerifyChecksums(wrong.kind, shards, states)
		errors = append(errors, err)
		_, err = c.ReconstructChecksums(wrong.kind, lost, nil, states, nil)
		errors = append(errors, err)
		_, err = c.ReconstructChecksums(wrong.kind, lost, nil, make([]uint64, 6), states)
		for _, err := range append(errors, err) {
			is(t, err, wrong.err)
			if err != nil && !strings.HasSuffix(err.Error(), ": "+wrong.end) {
				t.Errorf("%v does not end with %q", err, wrong.end)
			}
		}
		equal(t, states, wrong.states, "refused")
	}
	states := make([]uint64, 6)
	is(t, c.EncodeChecksums(codec.CRC32, shards[:5], states), codec.ErrTooFewShards)
	is(t, c.EncodeStripesChecksums(codec.CRC32, shards[:5], states), codec.ErrTooFewShards)
	is(t, c.EncodeStripesChecksums(codec.CRC32, append(shards[:6:6], shards...), states), codec.ErrTooFewShards)
	is(t, c.EncodeStripesChecksums(codec.CRC32, lost, states), codec.ErrShardSize)
	_, err = c.VerifyChecksums(codec.CRC32, lost, states)
	is(t, err, codec.ErrShardSize)
	_, err = c.ReconstructChecksums(codec.CRC32, append(make([][]byte, 3), shards[3:]...), nil, states, nil)
	is(t, err, codec.ErrTooFewShards)
	_, err = c.ReconstructChecksums(codec.CRC32, lost, make([]bool, 3), states, nil)
	is(t, err, codec.ErrTooFewShards)
	if Same(t, shards, before, "refused"); lost[0] != nil {
		t.Error("a refused call rebuilt a shard")
	}
}
