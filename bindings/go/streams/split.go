package streams

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/zeebo/xxh3"

	"gfsmith.example/go/codec"
)

// bufferBytes is the least size of the buffer of a stream.
const bufferBytes = 64 << 10

// split is a call of Split.
type split struct {
	set      Set
	coder    *codec.Codec
	original io.Reader
	sinks    []*bufio.Writer
	tags     []uint64
	records  [][]byte // of one stripe, complete
	blocks   [][]byte // their contents
	end      trailer
	sum      *xxh3.Hasher
}

func newSplit(set Set, coder *codec.Codec, original io.Reader, shards []io.Writer) *split {
	job := &split{set: set, coder: coder, original: original, sum: xxh3.New()}
	for _, shard := range shards {
		record := make([]byte, prefix+set.Block)
		job.sinks = append(job.sinks, bufio.NewWriterSize(shard, bufferBytes))
		job.records = append(job.records, record)
		job.blocks = append(job.blocks, record[prefix:])
	}
	job.tags = make([]uint64, len(shards))
	return job
}

// fill reads until the buffer is full or the reader returns an error, io.EOF at the end. Unlike io.ReadFull it does not
// turn io.EOF into io.ErrUnexpectedEOF, which readers of truncated archives return.
func fill(reader io.Reader, to []byte) (done int, err error) {
	for empty := 0; done < len(to) && err == nil; {
		var n int
		n, err = reader.Read(to[done:])
		done += n
		if empty++; n > 0 {
			empty = 0
		}
		if empty == 100 && err == nil {
			err = io.ErrNoProgress
		}
	}
	if done == len(to) {
		err = nil
	}
	return done, err
}

// read reads a stripe into the blocks, and returns the number of its bytes.
func (job *split) read() (total int, err error) {
	for j := 0; j < job.set.K && err == nil; j++ {
		var n int
		n, err = fill(job.original, job.blocks[j])
		_, _ = job.sum.Write(job.blocks[j][:n]) // never fails
		total += n
	}
	if err != nil && err != io.EOF {
		return 0, &ReadError{err}
	}
	if job.end.length += int64(total); job.end.length > maxLength {
		return 0, &ReadError{errors.New("more than 2^62 bytes")}
	}
	return total, nil
}

// shorten distributes the bytes of an incomplete stripe evenly, to shorter blocks.
func (job *split) shorten(total int) {
	data := make([]byte, 0, int(job.set.span()))
	for _, block := range job.blocks[:job.set.K] {
		data = append(data, block...)
	}
	size := (total + job.set.K - 1) / job.set.K
	for i := range data[total:] {
		data[total+i] = 0
	}
	for j, block := range job.blocks[:job.set.K] {
		copy(block, data[j*size:][:size])
	}
	for i := range job.blocks {
		job.blocks[i], job.records[i] = job.blocks[i][:size], job.records[i][:prefix+size]
	}
}

func (job *split) write(shard int, bytes []byte) error {
	if _, err := job.sinks[shard].Write(bytes); err != nil {
		return &WriteError{shard, err}
	}
	return nil
}

// stripe encodes and writes one stripe. It returns io.EOF at the end of the original.
func (job *split) stripe() error {
	total, err := job.read()
	if err != nil {
		return err
	}
	if total == 0 {
		return io.EOF
	}
	if int64(total) < job.set.span() {
		job.shorten(total)
	}
	if err := job.coder.Encode(job.blocks); err != nil {
		return err
	}
	for i, record := range job.records {
		seal(record, job.tags[i], job.end.stripes, blockKind)
		if err := job.write(i, record); err != nil {
			return err
		}
	}
	job.end.stripes++
	if int64(total) < job.set.span() {
		return io.EOF
	}
	return nil
}

func (job *split) run(ctx context.Context, progress func(int64)) error {
	for i := range job.sinks {
		raw, tag := job.set.header(i)
		job.tags[i] = tag
		if err := job.write(i, raw); err != nil {
			return err
		}
	}
	for ended := false; !ended; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := job.stripe()
		if ended = err == io.EOF; err != nil && !ended {
			return err
		}
		if progress != nil {
			progress(job.end.length)
		}
	}
	job.end.sum = job.sum.Sum128().Bytes()
	for i, sink := range job.sinks {
		if err := job.write(i, job.end.encode(job.tags[i])); err != nil {
			return err
		}
		if err := sink.Flush(); err != nil {
			return &WriteError{i, err}
		}
	}
	return nil
}
