package reedsolomon

import (
	"fmt"

	"github.com/klauspost/reedsolomon/internal/codec"
	"github.com/klauspost/reedsolomon/internal/kernels"
	"github.com/klauspost/reedsolomon/internal/linear"
)

// wrong returns an error of a kind with a reason.
func wrong(kind error, reason string, values ...any) error {
	return fmt.Errorf("%w\n%s", kind, fmt.Sprintf(reason, values...))
}

// DecodeIdx implements Extensions.
func (r *reedSolomon) DecodeIdx(dst [][]byte, expectInput []bool, input [][]byte) error {
	if expectInput == nil {
		return r.merge(dst, input)
	}
	loss, err := r.progress(dst, expectInput, input)
	if err != nil {
		return err
	}
	size, err := progressSize(dst, input)
	if err != nil || size == 0 || loss.Wanted == (linear.Set{}) {
		return err
	}
	repair := r.repairOf(loss)
	if repair == nil {
		return errSingular
	}
	var sources [][]byte
	rows := make([][]byte, len(repair.Rows))
	for j, shard := range repair.Sources {
		if input[shard] == nil {
			continue
		}
		sources = append(sources, input[shard])
		for i := range rows {
			rows[i] = append(rows[i], repair.Rows[i][j])
		}
	}
	if len(sources) > 0 {
		add := r.Map(kernels.Mad, rows)
		r.apply(add, sources, linear.Pick(nil, dst, repair.Targets), size)
	}
	return nil
}

// merge adds the shards in input to those in dst.
func (r *reedSolomon) merge(dst, input [][]byte) error {
	if len(dst) != len(input) {
		return wrong(ErrInvalidInput, "dst and input must have same length for merging")
	}
	for i, shard := range input {
		switch {
		case shard == nil:
			continue
		case dst[i] == nil:
			return wrong(ErrInvalidInput, "input[%d] provided but dst[%d] is nil", i, i)
		case len(dst[i]) != len(shard):
			return wrong(ErrInvalidShardSize, "dst[%d] size %d != input[%d] size %d", i, len(dst[i]), i, len(shard))
		case len(shard) != 0:
			codec.ReadRange([][]byte{shard})
			codec.WriteRange([][]byte{dst[i]})
			linear.Xor(r.Set, dst[i], dst[i], shard)
		}
	}
	return nil
}

// progress checks the numbers of shards and which ones are given. It returns the loss.
func (r *reedSolomon) progress(dst [][]byte, expectInput []bool, input [][]byte) (loss linear.Loss, err error) {
	if len(expectInput) != r.totalShards {
		return loss, wrong(ErrInvalidInput, "expectInput length %d, expected %d", len(expectInput), r.totalShards)
	}
	if len(dst) != r.totalShards {
		return loss, wrong(ErrInvalidInput, "dst length %d, expected %d (totalShards)", len(dst), r.totalShards)
	}
	if len(input) != r.totalShards {
		return loss, wrong(ErrInvalidInput, "input length %d, expected %d (totalShards)", len(input), r.totalShards)
	}
	for i := range input {
		if input[i] != nil && !expectInput[i] {
			return loss, wrong(ErrInvalidInput, "unexpected input at index %d (not marked in expectInput)", i)
		}
	}
	present := 0
	for i, expected := range expectInput {
		switch {
		case expected && dst[i] != nil:
			return loss, wrong(ErrInvalidInput, "dst[%d] should be nil (marked as input in expectInput)", i)
		case expected:
			loss.Present.Add(i)
			present++
		case dst[i] != nil:
			loss.Wanted.Add(i)
		}
	}
	if present < r.dataShards {
		return loss, wrong(ErrTooFewShards, "%d valid shards marked in expectInput, need at least %d", present, r.dataShards)
	}
	return loss, nil
}

// progressSize returns the common length of the shards, 0 without input.
func progressSize(dst, input [][]byte) (int, error) {
	size, known := 0, false
	for i, shard := range input {
		switch {
		case shard == nil:
		case !known:
			size, known = len(shard), true
		case len(shard) != size:
			return 0, wrong(ErrInvalidShardSize, "input[%d] size %d != expected size %d", i, len(shard), size)
		}
	}
	for i, shard := range dst {
		if shard != nil && len(shard) != size {
			return 0, wrong(ErrInvalidShardSize, "dst[%d] size %d != expected size %d", i, len(shard), size)
		}
	}
	return size, nil
}
