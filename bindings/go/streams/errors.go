package streams

import (
	"errors"
	"fmt"
)

// Errors of calls; errors.Is finds them.
var (
	ErrInvalid = errors.New("streams: invalid argument")
	ErrFormat  = errors.New("streams: no stream has the header of a shard")
	ErrMixed   = errors.New("streams: shards of different sets, or two with the same index")
	ErrDamaged = errors.New("streams: no trailer is intact, or the checksum of the original does not match")
)

var errNoContext = fmt.Errorf("%w: the context is nil", ErrInvalid)

// MixedError names two readers whose shards do not belong together. It is an ErrMixed.
type MixedError struct{ First, Second int }

func (e *MixedError) Error() string {
	return fmt.Sprintf("streams: shards[%d] and shards[%d] are of different sets, or have the same index", e.First, e.Second)
}

// Is returns whether the target is ErrMixed.
func (e *MixedError) Is(target error) bool { return target == ErrMixed }

// LostError reports a stripe that cannot be repaired. Err is codec.ErrTooFewShards or codec.ErrSingular.
type LostError struct {
	Stripe int64
	Err    error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("streams: stripe %d cannot be repaired: %v", e.Stripe, e.Err)
}

// Unwrap returns the reason.
func (e *LostError) Unwrap() error { return e.Err }

// ReadError reports that the original cannot be read. An unreadable shard counts as damage instead.
type ReadError struct{ Err error }

func (e *ReadError) Error() string {
	return fmt.Sprintf("streams: the original cannot be read: %v", e.Err)
}

// Unwrap returns the error of the reader.
func (e *ReadError) Unwrap() error { return e.Err }

// WriteError reports a failure of a writer. Shard is -1 for the original.
type WriteError struct {
	Shard int
	Err   error
}

func (e *WriteError) Error() string {
	if e.Shard < 0 {
		return fmt.Sprintf("streams: the original cannot be written: %v", e.Err)
	}
	return fmt.Sprintf("streams: shard %d cannot be written: %v", e.Shard, e.Err)
}

// Unwrap returns the error of the writer.
func (e *WriteError) Unwrap() error { return e.Err }
