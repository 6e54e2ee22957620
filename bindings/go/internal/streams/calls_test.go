package streams

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/zeebo/xxh3"

	"gfsmith.example/go/codec"
	"gfsmith.example/go/streams"
)

// forge returns a shard's header with other bytes at an offset and a matching checksum.
func forge(raw []byte, offset int, bytes ...byte) []byte {
	made := append([]byte(nil), raw...)
	copy(made[offset:], bytes)
	sum := xxh3.Hash128(made[:496]).Bytes()
	copy(made[496:], sum[:])
	return made
}

func number(value uint32) []byte { return binary.LittleEndian.AppendUint32(nil, value) }

// Headers with a valid checksum and invalid fields are refused before memory is allocated for them.
func TestHostileHeaders(t *testing.T) {
	good := split(t, pure, random(99), small)[0]
	for _, hostile := range [][]byte{
		nil, good[:511], forge(good, 0, 'x'), forge(good, 8, 1), forge(good, 8, 3), forge(good, 12, 1),
		forge(good, 32, make([]byte, 8)...), forge(good, 39, 0xff), forge(good, 40, 6),
		forge(good, 40, number(1<<31)...), forge(good, 44, 2), forge(good, 48, 0x1b), forge(good, 52, 0),
		forge(good, 52, number(0x7fffffff)...), forge(good, 52, number(0xffffffff)...), forge(good, 52, 254),
		forge(good, 56, 0), forge(good, 60, 1), forge(good, 64, 0, 0), forge(good, 64, 65),
		forge(good, 64, number(1<<20+64)...), forge(good, 64, number(0xffffffc0)...), forge(good, 68, 1),
		forge(good, 72, 0), forge(good, 72, bytes.Repeat([]byte{'a'}, 32)...), forge(good, 100, 1),
		forge(good, 104, '/'), forge(good, 104, '.', 0), forge(good, 104, '.', '.', 0), forge(good, 300, 1),
		forge(good, 104, bytes.Repeat([]byte{'a'}, 230)...), forge(good, 400, 1),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := pure.Verify(background, readers([][]byte{hostile}))
		runtime.ReadMemStats(&after)
		is(t, err, streams.ErrFormat)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<10 {
			t.Fatal(used, "bytes allocated")
		}
	}
	_, err := pure.Verify(background, nil)
	is(t, err, streams.ErrFormat)
	_, err = pure.Verify(background, readers([][]byte{forge(good, 72, 'm', 'a', 'g', 'i', 'c', 0)}))
	is(t, err, codec.ErrUnsupported)
}

// A trailer with a valid checksum and false numbers is refused, also if it states an enormous length.
func TestHostileTrailers(t *testing.T) {
	shards := split(t, pure, random(256), small)
	for _, length := range []uint64{255 + 256, 256 << 30, 1 << 62, 1<<64 - 1} {
		stripes := length/256 + (length%256+255)/256
		all := make([][]byte, len(shards))
		for i, shard := range shards {
			all[i] = append([]byte(nil), shard...)
			end := all[i][len(shard)-56:]
			binary.LittleEndian.PutUint64(end[16:], stripes)
			binary.LittleEndian.PutUint64(end[32:], length)
			reseal(all[i], len(shard)-56, 24)
		}
		var out bytes.Buffer
		if _, err := pure.Join(background, readers(all), &out); err == nil {
			t.Fatal(length, "accepted")
		}
		differ := readers(append(append([][]byte(nil), all[0]), shards[1:]...))
		if report, err := pure.Verify(background, differ); err == nil && report.Intact() {
			t.Fatal(length, "accepted next to others")
		}
	}
}

// broken fails after some bytes, or at once.
type broken struct {
	from io.Reader
	err  error
}

func (b *broken) Read(to []byte) (int, error) {
	if b.from != nil {
		if n, err := b.from.Read(to); err == nil {
			return n, nil
		}
	}
	return 0, b.err
}

func (b *broken) Write([]byte) (int, error) { return 0, b.err }

var errGone = errors.New("gone")

// An original that ends with an error is not a short original, even with the error of truncated archives.
func TestUnreadableOriginal(t *testing.T) {
	writers := make([]io.Writer, 6)
	for i := range writers {
		writers[i] = io.Discard
	}
	for _, reason := range []error{errGone, io.ErrUnexpectedEOF} {
		_, err := pure.Split(background, &broken{bytes.NewReader(random(99)), reason}, writers, small)
		var read *streams.ReadError
		if !errors.As(err, &read) || !errors.Is(err, reason) {
			t.Fatal(err)
		}
	}
	writers[4] = &broken{nil, errGone}
	_, err := pure.Split(background, bytes.NewReader(random(99)), writers, small)
	var write *streams.WriteError
	if !errors.As(err, &write) || write.Shard != 4 || !errors.Is(err, errGone) {
		t.Fatal(err)
	}
	if err.Error() != "streams: shard 4 cannot be written: gone" {
		t.Fatal(err)
	}
}

// An unreadable shard is damage. Short reads are not.
func TestReaders(t *testing.T) {
	data := random(99_999)
	shards := split(t, pure, data, small)
	bad := readers(shards)
	bad[0], bad[1] = &broken{nil, errGone}, &broken{bytes.NewReader(shards[1][:3000]), io.ErrUnexpectedEOF}
	out, report := joined(t, pure, bad)
	same(t, out, data, "joined")
	if !report.Shards[1].Unreadable || report.Shards[1].BadBlocks == 0 || report.Shards[0].Source != -1 {
		t.Fatal(report.Shards)
	}
	slow := readers(shards)
	for i := range slow {
		slow[i] = iotest.DataErrReader(iotest.OneByteReader(slow[i]))
	}
	report, err := pure.Verify(background, slow)
	if err != nil || !report.Intact() {
		t.Fatal(report, err)
	}
	_, err = pure.Join(background, readers(shards), &broken{nil, errGone})
	is(t, err, errGone)
	_, err = pure.Repair(background, readers(shards), map[int]io.Writer{5: &broken{nil, errGone}})
	is(t, err, errGone)
}

func TestProgressAndCancellation(t *testing.T) {
	data, coder, done := random(100_000), pure, int64(-1)
	ctx, cancel := context.WithCancel(background)
	coder.Progress = func(now int64) {
		if now < done {
			t.Fatal(now, "after", done)
		}
		done = now
	}
	shards := split(t, coder, data, small)
	if done != int64(len(data)) {
		t.Fatal(done)
	}
	done = 0
	if _, _ = joined(t, coder, readers(shards)); done != int64(len(data)) {
		t.Fatal(done)
	}
	coder.Progress = func(int64) { cancel() }
	_, err := coder.Join(ctx, readers(shards), io.Discard)
	is(t, err, context.Canceled)
	writers := []io.Writer{io.Discard, io.Discard, io.Discard, io.Discard, io.Discard, io.Discard}
	_, err = coder.Split(ctx, bytes.NewReader(data), writers, small)
	is(t, err, context.Canceled)
}

// The memory of a call does not depend on the length of the original, also if a shard is rebuilt.
func TestBoundedMemory(t *testing.T) {
	set := streams.Set{K: 4, M: 2, Block: 4096}
	data := random(16 << 20)
	buffers, writers := make([]bytes.Buffer, 6), make([]io.Writer, 6)
	for i := range buffers {
		buffers[i].Grow(5 << 20)
		writers[i] = &buffers[i]
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := pure.Split(background, bytes.NewReader(data), writers, set); err != nil {
		t.Fatal(err)
	}
	shards := make([]io.Reader, 6)
	for i := 1; i < 6; i++ {
		shards[i] = bytes.NewReader(buffers[i].Bytes())
	}
	if _, err := pure.Join(background, shards, io.Discard); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
		t.Fatal(used, "bytes allocated in all")
	}
}

func TestInvalidArguments(t *testing.T) {
	six := []io.Writer{io.Discard, io.Discard, io.Discard, io.Discard, io.Discard, io.Discard}
	for why, set := range map[string]streams.Set{
		"multiple of 64":       {K: 4, M: 2, Block: 100},
		"each be at least 1":   {K: 0, M: 6},
		"together at most 255": {K: 1 << 62, M: 1 << 62},
		"generation must be 1": {K: 4, M: 2, Generation: -1},
		"must be a file name":  {K: 4, M: 2, Name: "a/b"},
		"at most 229":          {K: 4, M: 2, Name: strings.Repeat("n", 230)},
		"1 to 31 bytes":        {K: 4, M: 2, Code: codec.Code(strings.Repeat("c", 40))},
		"other codes have l":   {K: 4, M: 2, L: 2},
		"0 (bytes) or 1":       {K: 4, M: 2, Content: 2},
		"6 shards; allowed: k": {K: 4, M: 3},
	} {
		_, err := pure.Split(background, bytes.NewReader(nil), six, set)
		is(t, err, streams.ErrInvalid)
		if !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "\n") {
			t.Fatal(why, err)
		}
	}
	_, err := pure.Split(background, nil, six, small)
	is(t, err, streams.ErrInvalid)
	six[3] = nil
	_, err = pure.Split(background, bytes.NewReader(nil), six, small)
	is(t, err, streams.ErrInvalid)
	shards := split(t, pure, random(99), small)
	for _, set := range []streams.Set{small, {Code: streams.Lrc, K: 4, M: 2, L: 1}} {
		shards := split(t, pure, random(99), streams.Set{Code: set.Code, K: 4, M: 2, L: set.L, Block: 64})
		_, err = streams.Streams{}.Verify(background, readers(shards))
		is(t, err, streams.ErrInvalid)
	}
	_, err = pure.Join(background, readers(shards), nil)
	is(t, err, streams.ErrInvalid)
	var missing context.Context
	_, err = pure.Split(missing, bytes.NewReader(nil), []io.Writer{io.Discard, io.Discard}, streams.Set{K: 1, M: 1})
	is(t, err, streams.ErrInvalid)
	_, err = pure.Verify(missing, readers(shards))
	is(t, err, streams.ErrInvalid)
	_, err = pure.Join(missing, readers(shards), io.Discard)
	is(t, err, streams.ErrInvalid)
	_, err = pure.Repair(missing, readers(shards), map[int]io.Writer{0: io.Discard})
	is(t, err, streams.ErrInvalid)
	for index, writer := range map[int]io.Writer{6: io.Discard, -1: io.Discard, 2: nil} {
		_, err = pure.Repair(background, readers(shards), map[int]io.Writer{index: writer})
		is(t, err, streams.ErrInvalid)
	}
}
