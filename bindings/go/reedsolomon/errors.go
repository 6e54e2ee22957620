package reedsolomon

import "errors"

// Errors of New and NewStream.
var (
	// ErrInvShardNum: fewer than one data shard, or a negative number of parity shards; also an index out of range in
	// EncodeIdx, and the wrong number of writers in Split of a StreamEncoder.
	ErrInvShardNum = errors.New("cannot create Encoder with less than one data shard or less than zero parity shards")

	// ErrMaxShardNum: more shards than the field has elements.
	ErrMaxShardNum = errors.New("cannot create Encoder with more than 256 data+parity shards")

	// ErrInvShardCombo: the shape does not fit the transform of a Leopard code.
	ErrInvShardCombo = errors.New("data and parity shard combination not supported by leopard encoder")

	// ErrNotSupported: the encoder does not have the operation.
	ErrNotSupported = errors.New("operation not supported")
)

// Errors of calls.
var (
	// ErrTooFewShards: the wrong number of shards, or too few present ones for a repair.
	ErrTooFewShards = errors.New("too few shards given")

	// ErrShardNoData: there are no shards, or all of them are empty.
	ErrShardNoData = errors.New("no shard data")

	// ErrShardSize: shards differ in length.
	ErrShardSize = errors.New("shard sizes do not match")

	// ErrInvalidShardSize: the length of the shards is not allowed.
	ErrInvalidShardSize = errors.New("invalid shard size")

	// ErrInvalidInput: an argument is not allowed.
	ErrInvalidInput = errors.New("invalid input")

	// ErrShortData: there is less data than requested, or none.
	ErrShortData = errors.New("not enough data to fill the number of requested shards")

	// ErrReconstructRequired: a data shard is missing.
	ErrReconstructRequired = errors.New("reconstruction required as one or more required data shards are nil")

	// ErrReconstructMismatch: a stream is given both to be read and to be written.
	ErrReconstructMismatch = errors.New("valid shards and fill shards are mutually exclusive")
)

// errSingular is returned for a loss that the matrix cannot repair.
var errSingular = errors.New("matrix is singular")
