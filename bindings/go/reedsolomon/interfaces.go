package reedsolomon

import "io"

// Encoder computes and repairs shards: the data shards, followed by the parity shards. All shards of a call have the
// same length. Several goroutines may call its methods at once.
type Encoder interface {
	// Encode computes the parity shards of the data shards.
	Encode(shards [][]byte) error

	// EncodeIdx adds the contribution of data shard idx to all parity shards. If these are zero before the first call,
	// one call for every data shard, in any order, has the result of Encode.
	EncodeIdx(dataShard []byte, idx int, parity [][]byte) error

	// Verify returns whether the parity shards match the data shards. It writes nothing.
	Verify(shards [][]byte) (bool, error)

	// Reconstruct rebuilds the missing shards, which are nil or have length 0. It uses the capacity of a missing shard
	// if that is sufficient, and allocates memory otherwise. ErrTooFewShards: too many shards are missing.
	Reconstruct(shards [][]byte) error

	// ReconstructData does the same for the data shards only.
	ReconstructData(shards [][]byte) error

	// ReconstructSome does the same for the shards whose flag in required is set. required has a flag for each shard,
	// or for each data shard.
	ReconstructSome(shards [][]byte, required []bool) error

	// Update changes the parity shards after a change of data shards. newDatashards: the new contents, nil for
	// unchanged shards. shards: the old contents, which may be nil for unchanged shards and are not written, and the
	// parity shards.
	Update(shards [][]byte, newDatashards [][]byte) error

	// Split divides data into data shards of equal length, the last ones padded with zeros, and appends parity shards.
	// It copies only the end of the data. The capacity of data beyond its length is set to zero and used for shards.
	// ErrShortData: data is empty.
	Split(data []byte) ([][]byte, error)

	// Join writes the first outSize bytes of the data shards to dst.
	Join(dst io.Writer, shards [][]byte, outSize int) error
}

// Extensions are further methods of all encoders that New returns.
type Extensions interface {
	// ShardSizeMultiple returns the number of which the length of shards must be a multiple.
	ShardSizeMultiple() int

	// DataShards returns the number of data shards.
	DataShards() int

	// ParityShards returns the number of parity shards.
	ParityShards() int

	// TotalShards returns the number of all shards.
	TotalShards() int

	// AllocAligned allocates memory for all shards, `each` bytes for each, at multiples of 64.
	AllocAligned(each int) [][]byte

	// DecodeIdx adds the contribution of the present shards in input to the wanted shards in dst. Both have an entry
	// for each shard, nil for all others. If the wanted shards are zero before the first call, they are rebuilt when
	// each shard whose flag in expectInput is set was given once. If expectInput is nil, the shards in input are added
	// to those in dst: this merges the results of calls with separate dst. ErrNotSupported: the encoder has no DecodeIdx.
	DecodeIdx(dst [][]byte, expectInput []bool, input [][]byte) error
}

// StreamEncoder computes and repairs shards that are streams, block by block. Streams may return any number of bytes
// from a call.
type StreamEncoder interface {
	// Encode reads the data shards, all of the same length, and writes the parity shards.
	Encode(data []io.Reader, parity []io.Writer) error

	// Verify reads all shards and returns whether the parity shards match the data shards.
	Verify(shards []io.Reader) (bool, error)

	// Reconstruct reads the present shards in valid and writes the missing ones to the writers in fill. nil marks a
	// shard that is not read or not written.
	Reconstruct(valid []io.Reader, fill []io.Writer) error

	// Split writes `size` bytes of data to the data shards, of equal length, the last ones padded with zeros.
	// ErrShortData: there are fewer bytes.
	Split(data io.Reader, dst []io.Writer, size int64) (err error)

	// Join writes the first outSize bytes of the data shards to dst.
	Join(dst io.Writer, shards []io.Reader, outSize int64) error
}

// WorkAllocator provides the temporary memory of Leopard codes instead of a pool of the encoder. Several goroutines may
// call it at once.
type WorkAllocator interface {
	// Get returns n buffers of size or more bytes.
	Get(n, size int) [][]byte

	// Put takes buffers back.
	Put([][]byte)
}
