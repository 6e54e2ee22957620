// Package streams codes files and pipes as k + m shards with checksums, in one pass and with bounded memory.
//
// The format is that of docs/shard-format.md, so gfsmith-shards, the C library and gfsmith.streams of Python read the
// same streams. Damage is repaired block by block: a call succeeds if the code can repair the damaged blocks of each
// stripe, even if every shard is damaged.
//
// A call uses the calling goroutine. For each shard it holds at most two buffers of 64 KiB or one block, and one
// rebuilt block.
package streams

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"

	"gfsmith.example/go/codec"
)

// Streams has the codecs of one of the two packages gfsmith. Several goroutines may use a value at once.
type Streams struct {
	New       func(code codec.Code, k, m int) (*codec.Codec, error) // gfsmith.New
	NewMatrix func(parity [][]byte) (*codec.Codec, error)           // gfsmith.NewMatrix, for the code Lrc only
	Progress  func(done int64)                                      // nil, or called with the bytes of the original done so far
}

// Lrc is the code of local reconstruction codes; the shape has L groups and M - L global parities.
const Lrc codec.Code = "lrc"

// The kinds of an original.
const (
	Bytes = 0 // bytes
	Tar   = 1 // a tar archive of a folder
)

// Set describes a set of shards. The zero values of Code, Block, Generation and ID have defaults in Split.
type Set struct {
	Code       codec.Code // default: codec.Cauchy
	K, M       int        // data and parity shards
	L          int        // groups of the code Lrc, 0 for other codes
	Block      int        // bytes: a multiple of 64, at most 1 MiB; default: 65536
	Content    int        // Bytes or Tar
	Generation int64      // 1 to 2^53 - 1; a new version of the original has a higher one; default: 1
	ID         [16]byte   // default: random
	Name       string     // of the original: at most 229 bytes without '/'
}

// ShardState is the state of one shard after a call.
type ShardState struct {
	Source         int   // position of its reader, -1 if it is missing
	HeaderDamaged  bool  // the index is that of the reader
	TrailerDamaged bool  // including a stream that ends too soon
	TooLong        bool  // bytes follow after the trailer
	Unreadable     bool  // the reader returned an error
	Read           bool  // the call needed this shard
	BadBlocks      int64 // lost blocks of a shard with a reader
}

// Intact returns whether the shard is present and no damage was found.
func (s ShardState) Intact() bool {
	return s.Source >= 0 && !s.HeaderDamaged && !s.TrailerDamaged && !s.TooLong && !s.Unreadable && s.BadBlocks == 0
}

// Report is the result of a call that reads shards.
type Report struct {
	Set
	Length       int64        // of the original
	Stripes      int64        // number of stripes
	Checksum     [16]byte     // XXH3-128 of the original
	LostStripes  int64        // stripes that the code cannot repair
	FalseStripes int64        // complete stripes whose parities do not match the data
	Shards       []ShardState // by index
	Foreign      []int        // positions of the readers without a valid header and without an index
}

// Intact returns whether all shards are present and without damage, and the parities match the data.
func (r *Report) Intact() bool {
	for _, shard := range r.Shards {
		if !shard.Intact() {
			return false
		}
	}
	return r.FalseStripes == 0
}

// codecOf creates the codec of a set.
func (s Streams) codecOf(set Set) (*codec.Codec, error) {
	if set.Code == Lrc {
		if s.NewMatrix == nil {
			return nil, fmt.Errorf("%w: NewMatrix is nil, and the code %s needs it", ErrInvalid, Lrc)
		}
		return s.NewMatrix(localParity(set.K, set.L, set.M-set.L))
	}
	if s.New == nil {
		return nil, fmt.Errorf("%w: New is nil; allowed: New of a package gfsmith", ErrInvalid)
	}
	return s.New(set.Code, set.K, set.M)
}

// completed returns the set with its defaults, or an error.
func (set Set) completed() (Set, error) {
	if set.Code == "" {
		set.Code = codec.Cauchy
	}
	if set.Block == 0 {
		set.Block = 64 << 10
	}
	if set.Generation == 0 {
		set.Generation = 1
	}
	if set.ID == [16]byte{} {
		if _, err := rand.Read(set.ID[:]); err != nil {
			return set, fmt.Errorf("streams: no random set id: %w", err)
		}
	}
	if fault := set.fault(); fault != "" {
		return set, fmt.Errorf("%w: %s", ErrInvalid, fault)
	}
	return set, nil
}

// Split encodes the original, read to its end, into k + m shards, and returns its length. A shard is complete only if
// the error is nil. ctx is examined once for each stripe: it does not interrupt a call of Read or Write.
func (s Streams) Split(ctx context.Context, original io.Reader, shards []io.Writer, set Set) (int64, error) {
	if ctx == nil {
		return 0, errNoContext
	}
	set, err := set.completed()
	if err != nil {
		return 0, err
	}
	if original == nil {
		return 0, fmt.Errorf("%w: the reader of the original is nil", ErrInvalid)
	}
	if len(shards) != set.K+set.M {
		return 0, fmt.Errorf("%w: %d shards; allowed: k + m = %d", ErrInvalid, len(shards), set.K+set.M)
	}
	for i, shard := range shards {
		if shard == nil {
			return 0, fmt.Errorf("%w: the writer of shard %d is nil", ErrInvalid, i)
		}
	}
	coder, err := s.codecOf(set)
	if err != nil {
		return 0, err
	}
	job := newSplit(set, coder, original, shards)
	if err := job.run(ctx, s.Progress); err != nil {
		return 0, err
	}
	return job.end.length, nil
}

// Verify reads all shards and checks everything: headers, blocks, parities, trailers and the original. The report has
// the damage, which is not an error. The errors are ErrFormat, ErrMixed, and ErrDamaged if no trailer is intact or the
// original does not have its checksum.
//
// shards: readers in any order, nil for missing ones. A shard whose header is damaged takes part if its index is known:
// from WithIndex, or from the name of a file (NAME.gG.NNN.gfs).
func (s Streams) Verify(ctx context.Context, shards []io.Reader) (*Report, error) {
	return s.decode(ctx, shards, nil, nil)
}

// Join writes the original. The errors are those of Verify, and LostError. The data shards are read first, and the
// parities only if they are needed. original may have received the beginning of the original before an error, each
// block checked. The report is nil if the headers are refused.
func (s Streams) Join(ctx context.Context, shards []io.Reader, original io.Writer) (*Report, error) {
	if original == nil {
		return nil, fmt.Errorf("%w: the writer of the original is nil", ErrInvalid)
	}
	return s.decode(ctx, shards, original, nil)
}

// Repair writes complete shards: rebuilt maps an index to a writer. The errors are those of Join. A shard is complete
// only if the error is nil.
func (s Streams) Repair(ctx context.Context, shards []io.Reader, rebuilt map[int]io.Writer) (*Report, error) {
	for index, writer := range rebuilt {
		if writer == nil {
			return nil, fmt.Errorf("%w: the writer of shard %d is nil", ErrInvalid, index)
		}
	}
	if rebuilt == nil {
		rebuilt = map[int]io.Writer{}
	}
	return s.decode(ctx, shards, nil, rebuilt)
}

func (s Streams) decode(ctx context.Context, shards []io.Reader, original io.Writer,
	rebuilt map[int]io.Writer) (*Report, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	job, err := open(shards)
	if err != nil {
		return nil, err
	}
	for index := range rebuilt {
		if index < 0 || index >= len(job.lanes) {
			return nil, fmt.Errorf("%w: shard %d cannot be rebuilt; allowed: 0 to %d", ErrInvalid, index, len(job.lanes)-1)
		}
	}
	if job.coder, err = s.codecOf(job.report.Set); err != nil {
		return nil, err
	}
	job.prepare(original, rebuilt)
	err = job.run(ctx, s.Progress)
	job.fillReport()
	return job.report, err
}
