package gfsmith

import (
	"gfsmith.example/go/codec"
	"gfsmith.example/go/gfsmith/internal/linear"
)

func (e *engine) Rebuild(shards [][]byte, present, wanted []bool) error {
	var loss linear.Loss
	for i := range shards {
		if present[i] {
			loss.Present.Add(i)
		}
		if wanted[i] {
			loss.Wanted.Add(i)
		}
	}
	found := e.repairs.Of(&e.Code, loss)
	if found == nil {
		return codec.ErrSingular
	}
	found.Run(shards)
	return nil
}
