package reedsolomon

import (
	"bytes"
	"sync"
	"sync/atomic"

	"github.com/klauspost/reedsolomon/internal/codec"
	"github.com/klauspost/reedsolomon/internal/kernels"
	"github.com/klauspost/reedsolomon/internal/linear"
)

// maxShards is the number of elements of GF(2^8): a matrix has a row for each shard.
const maxShards = 256

// reedSolomon is the encoder for codes with a matrix over GF(2^8).
type reedSolomon struct {
	dataShards, parityShards, totalShards int

	o      options
	parity [][]byte // the rows of the parity matrix
	linear.Code
	multiple int // of which the length of shards must be a multiple; a power of two
	encode   *linear.Map
	columns  []atomic.Pointer[linear.Map] // of each data shard: adds its contribution to all parity shards
	changes  []atomic.Pointer[linear.Map] // of each data shard: adds those of its old and its new contents
	repairs  linear.Repairs
	scratch  sync.Pool // *[]byte, parityShards buffers of checkBytes
}

// checkBytes is the number of bytes of each parity shard that Verify computes at once.
const checkBytes = 8 << 10

// New creates an encoder. With more than 256 shards, or if an option selects it, the code is a Leopard code.
func New(dataShards, parityShards int, opts ...Option) (Encoder, error) {
	o := defaultOptions
	for _, option := range opts {
		option(&o)
	}
	if dataShards <= 0 || parityShards < 0 {
		return nil, ErrInvShardNum
	}
	if parityShards > maxLeopardShards || dataShards > maxLeopardShards-parityShards {
		return nil, ErrMaxShardNum
	}
	wide := dataShards+parityShards > maxShards
	if wide || o.leopard != leopardAbove256 && parityShards > 0 {
		return newLeopard(dataShards, parityShards, o)
	}
	return newReedSolomon(dataShards, parityShards, o)
}

func newReedSolomon(k, m int, o options) (*reedSolomon, error) {
	if m == 0 {
		return withMatrix(k, nil, o), nil
	}
	parity, err := o.parityMatrix(k, m)
	if err != nil {
		return nil, err
	}
	r := withMatrix(k, parity, o)
	r.start()
	return r, nil
}

// withMatrix returns an encoder with a parity matrix. start must follow if it has rows.
func withMatrix(k int, parity matrix, o options) *reedSolomon {
	code := linear.Code{Set: o.set(), K: k, Parity: parity}
	m := len(parity)
	return &reedSolomon{
		dataShards: k, parityShards: m, totalShards: k + m, o: o, parity: parity, Code: code, multiple: 1,
	}
}

// start chooses the kernels.
func (r *reedSolomon) start() {
	r.encode = r.Map(kernels.Dot, r.parity)
	r.columns = make([]atomic.Pointer[linear.Map], r.dataShards)
	r.changes = make([]atomic.Pointer[linear.Map], r.dataShards)
	r.scratch.New = func() any {
		room := make([]byte, r.parityShards*checkBytes)
		return &room
	}
}

// ShardSizeMultiple returns 1, or 64 for a Leopard code.
func (r *reedSolomon) ShardSizeMultiple() int { return r.multiple }

// DataShards returns the number of data shards.
func (r *reedSolomon) DataShards() int { return r.dataShards }

// ParityShards returns the number of parity shards.
func (r *reedSolomon) ParityShards() int { return r.parityShards }

// TotalShards returns the number of all shards.
func (r *reedSolomon) TotalShards() int { return r.totalShards }

// AllocAligned is AllocAligned for all shards.
func (r *reedSolomon) AllocAligned(each int) [][]byte { return AllocAligned(r.totalShards, each) }

// shardSize returns the length of the first shard that is not empty.
func shardSize(shards [][]byte) int {
	for _, shard := range shards {
		if len(shard) != 0 {
			return len(shard)
		}
	}
	return 0
}

// checkShards returns the common length of the shards; empty ones are allowed if some may be missing.
func checkShards(shards [][]byte, missing bool) (int, error) {
	size := shardSize(shards)
	if size == 0 {
		return 0, ErrShardNoData
	}
	for _, shard := range shards {
		if len(shard) != size && !(missing && len(shard) == 0) {
			return 0, ErrShardSize
		}
	}
	return size, nil
}

// checkShards does the same and checks that the encoder can process this length.
func (r *reedSolomon) checkShards(shards [][]byte, missing bool) (int, error) {
	size, err := checkShards(shards, missing)
	if err == nil && size&(r.multiple-1) != 0 {
		err = ErrInvalidShardSize
	}
	return size, err
}

// Encode implements Encoder.
func (r *reedSolomon) Encode(shards [][]byte) error {
	if len(shards) != r.totalShards {
		return ErrTooFewShards
	}
	size, err := r.checkShards(shards, false)
	if err != nil || r.parityShards == 0 {
		return err
	}
	r.apply(r.encode, shards[:r.dataShards], shards[r.dataShards:], size)
	return nil
}

// column returns a map of one data shard, which is made at its first use.
func (r *reedSolomon) column(made *atomic.Pointer[linear.Map], idx, times int) *linear.Map {
	if found := made.Load(); found != nil {
		return found
	}
	rows := filled(r.parityShards, times, func(i, _ int) byte { return r.parity[i][idx] })
	found := r.Map(kernels.Mad, rows)
	made.Store(found)
	return found
}

// EncodeIdx implements Encoder.
func (r *reedSolomon) EncodeIdx(dataShard []byte, idx int, parity [][]byte) error {
	if len(parity) != r.parityShards {
		return ErrTooFewShards
	}
	if len(parity) == 0 {
		return nil
	}
	if idx < 0 || idx >= r.dataShards {
		return ErrInvShardNum
	}
	size, err := checkShards(parity, false)
	if err != nil {
		return err
	}
	if len(dataShard) != size {
		return ErrShardSize
	}
	r.applyTo(r.column(&r.columns[idx], idx, 1), [2][]byte{dataShard}, 1, parity, size)
	return nil
}

// Update implements Encoder.
func (r *reedSolomon) Update(shards [][]byte, newDatashards [][]byte) error {
	if len(shards) != r.totalShards || len(newDatashards) != r.dataShards {
		return ErrTooFewShards
	}
	size := r.updateSize(shards, newDatashards)
	if size == 0 {
		return r.checkUpdate(shards, newDatashards)
	}
	any := false
	for j, changed := range newDatashards {
		if len(changed) != 0 {
			any = true
			change := r.column(&r.changes[j], j, 2)
			r.applyTo(change, [2][]byte{shards[j], changed}, 2, shards[r.dataShards:], size)
		}
	}
	if !any {
		return ErrShardNoData
	}
	return nil
}

// updateSize returns the length of the shards, or 0 if checkUpdate must decide. It reads each length once.
func (r *reedSolomon) updateSize(shards, changed [][]byte) int {
	data, parity := shards[:r.dataShards], shards[r.dataShards:]
	size := shardSize(parity)
	for _, shard := range parity {
		if len(shard) != size {
			return 0
		}
	}
	for j, shard := range changed {
		if old := len(data[j]); old != size && old+len(shard) != 0 || len(shard) != 0 && len(shard) != size {
			return 0
		}
	}
	return size
}

// checkUpdate returns the error for shards that are not all of the same length, nil if there is nothing to change.
func (r *reedSolomon) checkUpdate(shards, changed [][]byte) error {
	size, err := checkShards(shards, true)
	if err != nil {
		return err
	}
	other, err := checkShards(changed, true)
	if err != nil {
		return err
	}
	if other != size {
		return ErrShardSize
	}
	for j, shard := range shards {
		if len(shard) == 0 && (j >= r.dataShards || len(changed[j]) != 0) {
			return ErrInvalidInput
		}
	}
	return nil
}

// Verify implements Encoder.
func (r *reedSolomon) Verify(shards [][]byte) (bool, error) {
	if len(shards) != r.totalShards {
		return false, ErrTooFewShards
	}
	size, err := r.checkShards(shards, false)
	if err != nil {
		return false, err
	}
	if r.parityShards == 0 {
		return true, nil
	}
	codec.ReadRange(shards)
	workers := r.o.workers(r.totalShards, size)
	if workers == 1 {
		return r.same(shards, 0, size, nil), nil
	}
	var differs atomic.Bool
	err = codec.Share(workers, shards[0], 0, size, func(begin, end int) error {
		if !r.same(shards, begin, end, &differs) {
			differs.Store(true)
		}
		return nil
	})
	return err == nil && !differs.Load(), err
}

// same returns whether the parity shards match between two positions. It stops if another goroutine found a difference.
func (r *reedSolomon) same(shards [][]byte, begin, end int, differs *atomic.Bool) bool {
	room := r.scratch.Get().(*[]byte)
	defer r.scratch.Put(room)
	var few [2][linear.Few][]byte
	sources, computed := few[0][:0], few[1][:0]
	for at := begin; at < end && (differs == nil || !differs.Load()); at += checkBytes {
		next := at + checkBytes
		if next > end {
			next = end
		}
		sources, computed = sources[:0], computed[:0]
		for _, shard := range shards[:r.dataShards] {
			sources = append(sources, shard[at:next])
		}
		for i := range r.parity {
			computed = append(computed, (*room)[i*checkBytes:][:next-at])
		}
		r.encode.Apply(sources, computed, 0, next-at)
		for i, parity := range computed {
			if !bytes.Equal(parity, shards[r.dataShards+i][at:next]) {
				return false
			}
		}
	}
	return true
}
