package gfsmith

import "gfsmith.example/go/codec"

// The errors of calls, those of package codec.
var (
	ErrTooFewShards        = codec.ErrTooFewShards
	ErrShardNoData         = codec.ErrShardNoData
	ErrShardSize           = codec.ErrShardSize
	ErrShortData           = codec.ErrShortData
	ErrReconstructRequired = codec.ErrReconstructRequired
	ErrInvalidInput        = codec.ErrInvalidInput
	ErrInvShardNum         = codec.ErrInvShardNum
	ErrNotMDS              = codec.ErrNotMDS
	ErrSingular            = codec.ErrSingular
	ErrUnsupported         = codec.ErrUnsupported
	ErrChecksum            = codec.ErrChecksum
	ErrStripesDiffer       = codec.ErrStripesDiffer
)
