package reedsolomon

import (
	"github.com/klauspost/reedsolomon/internal/codec"
	"github.com/klauspost/reedsolomon/internal/linear"
)

// Reconstruct implements Encoder.
func (r *reedSolomon) Reconstruct(shards [][]byte) error {
	return r.reconstruct(shards, r.totalShards, nil)
}

// ReconstructData implements Encoder.
func (r *reedSolomon) ReconstructData(shards [][]byte) error {
	return r.reconstruct(shards, r.dataShards, nil)
}

// ReconstructSome implements Encoder.
func (r *reedSolomon) ReconstructSome(shards [][]byte, required []bool) error {
	if len(required) != r.dataShards && len(required) != r.totalShards {
		return ErrInvalidInput
	}
	return r.reconstruct(shards, len(required), required)
}

// reconstruct rebuilds the missing ones of the first `most` shards that are required, all if required is nil.
func (r *reedSolomon) reconstruct(shards [][]byte, most int, required []bool) error {
	if len(shards) != r.totalShards {
		return ErrTooFewShards
	}
	size, err := r.checkShards(shards, true)
	if err != nil {
		return err
	}
	var loss linear.Loss
	present, wanted := 0, 0
	for i, shard := range shards {
		switch {
		case len(shard) != 0:
			loss.Present.Add(i)
			present++
		case i < most && (required == nil || required[i]):
			loss.Wanted.Add(i)
			wanted++
		}
	}
	if wanted == 0 {
		return nil
	}
	if present < r.dataShards {
		return ErrTooFewShards
	}
	repair := r.repairOf(loss)
	if repair == nil {
		return errSingular
	}
	r.rebuild(repair, shards, size)
	return nil
}

func (r *reedSolomon) repairOf(loss linear.Loss) *linear.Repair {
	if r.o.inversionCache {
		return r.repairs.Of(&r.Code, loss)
	}
	return r.Solve(loss)
}

// rebuild gives the targets of a repair memory and computes them.
func (r *reedSolomon) rebuild(repair *linear.Repair, shards [][]byte, size int) {
	for _, i := range repair.Targets {
		if cap(shards[i]) >= size {
			shards[i] = shards[i][:size]
		} else {
			shards[i] = codec.Aligned(size)
		}
	}
	workers := r.o.workers(len(repair.Sources)+len(repair.Targets), size)
	if workers > 1 && repair.Map != nil {
		sources, targets := linear.Pick(nil, shards, repair.Sources), linear.Pick(nil, shards, repair.Targets)
		share(workers, repair.Map, sources, targets, size)
		return
	}
	for _, i := range repair.Sources {
		codec.ReadRange(shards[i : i+1])
	}
	for _, i := range repair.Targets {
		codec.WriteRange(shards[i : i+1])
	}
	repair.Run(shards)
}
