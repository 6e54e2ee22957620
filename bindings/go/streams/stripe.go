package streams

import (
	"errors"

	"gfsmith.example/go/codec"
)

// process repairs and writes the current stripe.
func (job *decode) process() error {
	enough, whole := job.collect()
	if err := job.rebuild(enough, whole); err != nil {
		return err
	}
	if err := job.writeOriginal(); err != nil {
		return err
	}
	for i, sink := range job.sinks {
		if sink == nil {
			continue
		}
		record := job.lanes[i].window
		if job.lanes[i].good != job.size {
			record = job.lanes[i].own
			seal(record[:prefix+job.size], job.lanes[i].tag, job.stripe, blockKind)
		}
		if _, err := sink.Write(record[:prefix+job.size]); err != nil {
			return &WriteError{i, err}
		}
	}
	return nil
}

// collect sets the blocks of the stripe, with memory for needed ones that are lost. It returns whether all needed blocks
// are good, and whether all blocks are.
func (job *decode) collect() (enough, whole bool) {
	enough, whole = true, true
	for i := range job.lanes {
		l := &job.lanes[i]
		if l.good == job.size {
			job.blocks[i] = l.window[prefix:][:job.size]
			continue
		}
		if l.buffer != nil {
			l.badBlocks++
		}
		whole = false
		job.blocks[i] = nil
		if job.needed[i] {
			enough = false
			if l.own == nil {
				l.own = make([]byte, prefix+job.report.Block)
			}
			job.blocks[i] = l.own[prefix:][:0]
		}
	}
	return enough, whole
}

// rebuild repairs the stripe, or checks the parities of a whole one if the call writes nothing.
func (job *decode) rebuild(enough, whole bool) error {
	var err error
	switch {
	case whole && !job.output:
		var same bool
		if same, err = job.coder.Verify(job.blocks); err == nil && !same {
			job.report.FalseStripes++
		}
	case !enough:
		err = job.reconstruct()
	}
	if err == nil {
		return nil
	}
	if !errors.Is(err, codec.ErrTooFewShards) && !errors.Is(err, codec.ErrSingular) {
		return err
	}
	job.report.LostStripes++
	job.complete = false
	if job.output {
		return &LostError{job.stripe, err}
	}
	return nil
}

func (job *decode) reconstruct() error {
	for _, block := range job.blocks {
		if len(block) != 0 {
			return job.coder.ReconstructSome(job.blocks, job.needed)
		}
	}
	return codec.ErrTooFewShards
}

// writeOriginal adds the data of the stripe to the checksum, and writes them.
func (job *decode) writeOriginal() error {
	left := job.report.span()
	if job.end != nil && job.end.length-job.done < left {
		left = job.end.length - job.done
	}
	job.done += left
	for _, block := range job.blocks[:job.report.K] {
		if !job.complete {
			return nil
		}
		if int64(len(block)) > left {
			block = block[:left]
		}
		left -= int64(len(block))
		_, _ = job.sum.Write(block) // never fails
		if job.original != nil {
			if _, err := job.original.Write(block); err != nil {
				return &WriteError{-1, err}
			}
		}
	}
	return nil
}
