package streams

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gfsmith.example/go/codec"
	"gfsmith.example/go/streams"
)

func TestEveryShardDamaged(t *testing.T) {
	for name, coder := range coders {
		data := random(999)
		shards := split(t, coder, data, small)
		bad := shards
		for i := range shards {
			bad = flipped(bad, i, header+i%3*record+40)
		}
		report, err := coder.Verify(background, readers(bad))
		if err != nil || report.Intact() || report.LostStripes != 0 || report.Stripes != 4 {
			t.Fatal(name, report, err)
		}
		rebuilt, writers := make([]bytes.Buffer, len(shards)), map[int]io.Writer{}
		for i := range shards {
			writers[i] = &rebuilt[i]
			if report.Shards[i].BadBlocks != 1 || report.Shards[i].Source != i {
				t.Fatal(name, i, report.Shards[i])
			}
		}
		if _, err := coder.Repair(background, readers(bad), writers); err != nil {
			t.Fatal(name, err)
		}
		for i := range shards {
			same(t, rebuilt[i].Bytes(), shards[i], "rebuilt")
		}
	}
}

// Damage in a late stripe starts the reading of the parities there, also through a reader that cannot seek.
func TestParitiesAreReadOnlyIfTheyAreNeeded(t *testing.T) {
	data := random(100_000)
	shards := split(t, pure, data, small)
	out, report := joined(t, pure, readers(shards))
	same(t, out, data, "intact")
	for i, shard := range report.Shards {
		if shard.Read != (i < 4) {
			t.Fatal(i, shard)
		}
	}
	for _, stripe := range []int{0, 1, 300, 390} {
		bad := readers(flipped(shards, 0, header+stripe*record+40))
		bad[5] = io.MultiReader(bad[5]) // cannot seek
		out, report := joined(t, pure, bad)
		same(t, out, data, "damaged")
		if report.Shards[0].BadBlocks != 1 || !report.Shards[4].Read || !report.Shards[5].Read {
			t.Fatal(stripe, report.Shards)
		}
	}
}

// Random damage, truncation and junk never lead to other bytes: a call restores the original or fails.
func TestRandomDamage(t *testing.T) {
	restored, failed := 0, 0
	for seed := int64(0); seed < 400; seed++ {
		r := rand.New(rand.NewSource(seed))
		data := random(r.Intn(1500))
		shards := split(t, pure, data, small)
		for n := 1 + r.Intn(4); n > 0; n-- {
			i := r.Intn(len(shards))
			shard := append([]byte(nil), shards[i]...)
			switch r.Intn(4) {
			case 0:
				shard = shard[:r.Intn(len(shard)+1)]
			case 1:
				shard = append(shard, make([]byte, r.Intn(200))...)
			case 2: // a missing part in the middle
				at := r.Intn(len(shard) + 1)
				shard = append(shard[:at], shard[at+r.Intn(len(shard)-at+1):]...)
			case 3:
				if len(shard) > 0 {
					shard[r.Intn(len(shard))] ^= 1 << r.Intn(8)
				}
			}
			shards[i] = shard
		}
		var out bytes.Buffer
		_, err := pure.Join(background, readers(shards), &out)
		if err != nil {
			failed++
		} else {
			restored++
			same(t, out.Bytes(), data, "restored")
		}
	}
	if restored < 100 || failed < 20 {
		t.Fatal(restored, failed)
	}
}

// Bytes after the trailers do not become a part of the original whose last block is complete but padded.
func TestJunkAfterEveryTrailer(t *testing.T) {
	for _, stripes := range []int{1, 64, 65} {
		data := random(stripes*4*64 - 1)
		shards := split(t, pure, data, small)
		for i := range shards {
			shards[i] = append(shards[i], random(100)...)
		}
		out, report := joined(t, pure, readers(shards))
		same(t, out, data, "joined")
		if !report.Shards[0].TooLong || report.Intact() {
			t.Fatal(report.Shards[0])
		}
	}
}

func TestTooManyLosses(t *testing.T) {
	shards := split(t, pure, random(999), small)
	report, err := pure.Verify(background, readers(shards[3:]))
	if err != nil || report.LostStripes != 4 {
		t.Fatal(report, err)
	}
	_, err = pure.Join(background, readers(shards[3:]), io.Discard)
	var lost *streams.LostError
	if !errors.As(err, &lost) || lost.Stripe != 0 {
		t.Fatal(err)
	}
	is(t, err, codec.ErrTooFewShards)
}

// Streams that end within the same stripe are reported as lost, not as a shorter original.
func TestTruncated(t *testing.T) {
	shards := split(t, pure, random(1024), small)
	for keep := range shards { // one shard is complete, so the length is known
		cut := append([][]byte(nil), shards...)
		for i := range cut {
			if i != keep {
				cut[i] = cut[i][:header+2*record]
			}
		}
		var out bytes.Buffer
		_, err := pure.Join(background, readers(cut), &out)
		is(t, err, codec.ErrTooFewShards)
		report, err := pure.Verify(background, readers(cut))
		if err != nil || report.LostStripes != 2 || report.Length != 1024 {
			t.Fatal(report, err)
		}
	}
	for i := range shards { // no trailer
		shards[i] = shards[i][:header+2*record]
	}
	_, err := pure.Join(background, readers(shards), io.Discard)
	is(t, err, streams.ErrDamaged)
}

// If no stream has the stripes before the trailer, they are lost.
func TestMissingInEveryShard(t *testing.T) {
	shards := split(t, pure, random(1024), small)
	for i, shard := range shards {
		shards[i] = append(append([]byte(nil), shard[:header+2*record]...), shard[header+4*record:]...)
	}
	report, err := pure.Verify(background, readers(shards))
	if err != nil || report.LostStripes != 2 || report.Stripes != 4 {
		t.Fatal(report, err)
	}
	_, err = pure.Join(background, readers(shards), io.Discard)
	var lost *streams.LostError
	if !errors.As(err, &lost) || lost.Stripe != 2 || !strings.HasPrefix(err.Error(), "streams: stripe 2 ") {
		t.Fatal(err)
	}
}

// Records with valid checksums and false contents: parities that do not match the data, and other data.
func TestFalseContents(t *testing.T) {
	shards := split(t, pure, random(1024), small)
	for index, want := range map[int]error{0: streams.ErrDamaged, 5: nil} {
		bad := flipped(shards, index, header+record+40)
		reseal(bad[index], header+record, 64)
		report, err := pure.Verify(background, readers(bad))
		if report == nil || report.FalseStripes != 1 || report.Intact() || !errors.Is(err, want) {
			t.Fatal(index, report, err)
		}
		_, err = pure.Join(background, readers(bad), io.Discard)
		if !errors.Is(err, want) {
			t.Fatal(index, err)
		}
	}
	for i := range shards { // another checksum of the original
		shards = flipped(shards, i, len(shards[i])-1)
		reseal(shards[i], len(shards[i])-56, 24)
	}
	_, err := pure.Join(background, readers(shards), io.Discard)
	is(t, err, streams.ErrDamaged)
	again := split(t, pure, random(1024), small) // another random id
	_, err = pure.Verify(background, readers([][]byte{shards[0], again[1]}))
	is(t, err, streams.ErrMixed)
}

func TestMixedSets(t *testing.T) {
	one, second := split(t, pure, random(99), small), small
	second.Generation = 2
	other := split(t, pure, random(99), second)
	for _, pair := range [][][]byte{{nil, one[0], other[1]}, {nil, one[0], one[0]}} {
		_, err := pure.Verify(background, readers(pair))
		var mixed *streams.MixedError
		if !errors.As(err, &mixed) || *mixed != (streams.MixedError{First: 1, Second: 2}) {
			t.Fatal(err)
		}
		is(t, err, streams.ErrMixed)
	}
	// A record of another set under the right header does not match.
	spliced := append(append([]byte(nil), one[0][:header]...), other[0][header:]...)
	report, err := pure.Verify(background, readers(append([][]byte{spliced}, one[1:]...)))
	if err != nil || report.Shards[0].BadBlocks != 1 || !report.Shards[0].TrailerDamaged {
		t.Fatal(report, err)
	}
}

// A shard with a damaged header takes part if its index is known, and is foreign otherwise.
func TestDamagedHeader(t *testing.T) {
	data := random(999)
	shards := split(t, pure, data, small)
	bad := flipped(shards, 0, 3)
	report, err := pure.Verify(background, readers(bad))
	if err != nil || len(report.Foreign) != 1 || report.Foreign[0] != 0 || report.Shards[0].Source != -1 {
		t.Fatal(report, err)
	}
	named := filepath.Join(t.TempDir(), "file.g1.000.gfs")
	if err := os.WriteFile(named, bad[0], 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(named)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, reader := range []io.Reader{streams.WithIndex(bytes.NewReader(bad[0]), 0), file} {
		all := readers(bad)
		all[0] = reader
		report, err := pure.Verify(background, all)
		if err != nil || !report.Shards[0].HeaderDamaged || report.Shards[0].BadBlocks != 0 || report.Foreign != nil {
			t.Fatal(report, err)
		}
	}
	wrong := readers(bad[:5])
	wrong[0] = streams.WithIndex(wrong[0], 5) // the tag shows the wrong index
	if report, err = pure.Verify(background, wrong); err != nil || report.Shards[5].BadBlocks != 4 {
		t.Fatal(report, err)
	}
}
