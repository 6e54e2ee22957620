package streams

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"gfsmith.example/go/codec"
)

// decode is a call that reads shards.
type decode struct {
	report   *Report
	coder    *codec.Codec
	lanes    []lane // by index
	original *bufio.Writer
	sinks    []*bufio.Writer // by index
	output   bool            // the call writes
	needed   []bool          // shards that the call needs, by index
	stripe   int64           // number of the current stripe
	size     int             // bytes of its blocks
	blocks   [][]byte        // its blocks, empty if they are lost
	end      *trailer
	complete bool // all data were known so far
	sum      *xxh3.Hasher
	done     int64
}

// open reads the headers and assigns the readers to lanes.
func open(shards []io.Reader) (*decode, error) {
	job, first := &decode{}, -1
	var unknown []int
	lanes, indices := make([]lane, len(shards)), make([]int, len(shards))
	for p, reader := range shards {
		l := &lanes[p]
		if l.from, indices[p] = indexOf(reader); l.from == nil {
			continue
		}
		raw := make([]byte, headerBytes)
		n, err := fill(l.from, raw)
		l.source = p
		l.stop(err)
		set, index, valid := parse(raw[:n])
		if !valid {
			unknown = append(unknown, p)
			continue
		}
		if first < 0 {
			first = p
			job.begin(set)
		}
		if set != job.report.Set {
			return nil, &MixedError{first, p}
		}
		if other := job.lanes[index].source; other >= 0 {
			return nil, &MixedError{other, p}
		}
		job.place(index, *l)
	}
	if first < 0 {
		return nil, ErrFormat
	}
	for _, p := range unknown {
		job.placeUnknown(p, indices[p], lanes[p])
	}
	return job, nil
}

// placeUnknown assigns a reader without a valid header by its index.
func (job *decode) placeUnknown(position, index int, l lane) {
	if index < 0 || index >= len(job.lanes) || job.lanes[index].source >= 0 {
		job.report.Foreign = append(job.report.Foreign, position)
		return
	}
	l.headerBad = true
	job.place(index, l)
}

// begin creates a lane without a stream for every shard of the set.
func (job *decode) begin(set Set) {
	job.report = &Report{Set: set}
	job.lanes = make([]lane, set.K+set.M)
	for i := range job.lanes {
		_, tag := set.header(i)
		job.lanes[i] = lane{tag: tag, source: -1, ended: true}
	}
}

func (job *decode) place(index int, l lane) {
	l.tag = job.lanes[index].tag
	job.lanes[index] = l
}

// prepare opens the outputs and starts the streams that are read from the beginning.
func (job *decode) prepare(original io.Writer, rebuilt map[int]io.Writer) {
	k, count := job.report.K, len(job.lanes)
	job.sum, job.complete = xxh3.New(), true
	job.output = original != nil || rebuilt != nil
	job.blocks, job.needed, job.sinks = make([][]byte, count), make([]bool, count), make([]*bufio.Writer, count)
	if original != nil {
		job.original = bufio.NewWriterSize(original, bufferBytes)
	}
	data := 0
	for i := range job.lanes {
		if writer := rebuilt[i]; writer != nil {
			job.sinks[i] = bufio.NewWriterSize(writer, bufferBytes)
		}
		job.needed[i] = i < k || !job.output || job.sinks[i] != nil
		if i < k && job.lanes[i].from != nil {
			data++
		}
	}
	for i := range job.lanes {
		if l := &job.lanes[i]; l.from != nil && (original == nil || i < k || data < k) {
			l.activate(job.report.Set, 0)
		}
	}
}

// allActive returns whether every stream is read.
func (job *decode) allActive() bool {
	for i := range job.lanes {
		if job.lanes[i].from != nil && job.lanes[i].buffer == nil {
			return false
		}
	}
	return true
}

// measure returns whether there is a stripe, as long as a stream has bytes and no more than the trailer states, and
// computes the size of its blocks.
func (job *decode) measure() (more bool, err error) {
	for i := range job.lanes {
		l := &job.lanes[i]
		if l.end != nil && job.end != nil && *l.end != *job.end {
			return false, fmt.Errorf("%w: trailers differ", ErrDamaged)
		}
		if l.end != nil {
			job.end = l.end
		}
		more = more || len(l.window) > 0
	}
	job.size = job.report.Block
	if job.end == nil {
		return more, nil
	}
	left := job.end.stripes > job.stripe
	if left {
		job.size = job.report.blockBytes(job.end.length, job.stripe)
	}
	return left && (more || !job.allActive()), nil
}

// satisfied returns whether the streams that are read have all data of the stripe, and a trailer at their end.
func (job *decode) satisfied(more bool) bool {
	ended := true
	for i := range job.lanes[:job.report.K] {
		ended = ended && job.lanes[i].ended
		if more && job.lanes[i].good != job.size {
			return false
		}
	}
	return job.end != nil || !ended
}

// read reads the records of the stripe and returns whether there is one.
func (job *decode) read() (more bool, err error) {
	for i := range job.lanes {
		if job.lanes[i].buffer != nil {
			job.lanes[i].read(job.report.Set, job.stripe)
		}
	}
	more, err = job.measure()
	if err != nil || job.allActive() || job.satisfied(more) {
		return more, err
	}
	for i := range job.lanes {
		if l := &job.lanes[i]; l.from != nil && l.buffer == nil {
			l.activate(job.report.Set, job.stripe)
			l.read(job.report.Set, job.stripe)
		}
	}
	return job.measure()
}

// run reads all stripes, and then compares and writes the trailer.
func (job *decode) run(ctx context.Context, progress func(int64)) error {
	for i, sink := range job.sinks {
		if sink != nil {
			raw, _ := job.report.header(i)
			if _, err := sink.Write(raw); err != nil {
				return &WriteError{i, err}
			}
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := job.read()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := job.process(); err != nil {
			return err
		}
		job.stripe++
		if progress != nil {
			progress(job.done)
		}
	}
	if err := job.check(); err != nil {
		return err
	}
	return job.finish()
}

// check compares the numbers and the checksum of the trailer.
func (job *decode) check() error {
	if job.end == nil {
		return ErrDamaged
	}
	if job.stripe < job.end.stripes { // no stream has the rest
		job.report.LostStripes += job.end.stripes - job.stripe
		job.complete = false
		if job.output {
			return &LostError{job.stripe, codec.ErrTooFewShards}
		}
		job.stripe = job.end.stripes
	}
	if job.stripe != job.end.stripes || job.complete && job.sum.Sum128().Bytes() != job.end.sum {
		return ErrDamaged
	}
	return nil
}

// finish writes the trailers and flushes.
func (job *decode) finish() error {
	if job.original != nil {
		if err := job.original.Flush(); err != nil {
			return &WriteError{-1, err}
		}
	}
	for i, sink := range job.sinks {
		if sink == nil {
			continue
		}
		_, err := sink.Write(job.end.encode(job.lanes[i].tag))
		if err == nil {
			err = sink.Flush()
		}
		if err != nil {
			return &WriteError{i, err}
		}
	}
	return nil
}

func (job *decode) fillReport() {
	report := job.report
	report.Stripes = job.stripe
	if job.end != nil {
		report.Length, report.Checksum = job.end.length, job.end.sum
	}
	for i := range job.lanes {
		l := &job.lanes[i]
		report.Shards = append(report.Shards, ShardState{
			Source: l.source, HeaderDamaged: l.headerBad, TrailerDamaged: l.buffer != nil && l.end == nil,
			TooLong: l.tooLong, Unreadable: l.unreadable, Read: l.buffer != nil, BadBlocks: l.badBlocks,
		})
	}
}
