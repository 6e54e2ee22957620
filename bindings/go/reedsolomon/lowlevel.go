package reedsolomon

import (
	"github.com/klauspost/reedsolomon/internal/codec"
	"github.com/klauspost/reedsolomon/internal/kernels"
	"github.com/klauspost/reedsolomon/internal/linear"
)

// Inv returns the inverse of e in GF(2^8), 0 for 0.
func Inv(e byte) byte {
	if e == 0 {
		return 0
	}
	return codec.Inverse(e)
}

// LowLevel multiplies slices by constants. Its zero value has the default options.
type LowLevel struct{ o *options }

// WithOptions replaces the options by the defaults and opts. No other call may run at the same time.
func (l *LowLevel) WithOptions(opts ...Option) {
	o := defaultOptions
	for _, option := range opts {
		option(&o)
	}
	l.o = &o
}

// multiply runs an operation with one coefficient.
func (l LowLevel) multiply(operation kernels.Operation, c byte, in, out []byte) {
	if len(in) == 0 {
		return
	}
	o := l.o
	if o == nil {
		o = &defaultOptions
	}
	code := linear.Code{Set: o.set()}
	run(code.Map(operation, [][]byte{{c}}), [][]byte{in}, [][]byte{out[:len(in)]}, len(in))
}

// GalMulSlice computes out[i] = c * in[i] in GF(2^8). out must be at least as long as in.
func (l LowLevel) GalMulSlice(c byte, in, out []byte) { l.multiply(kernels.Dot, c, in, out) }

// GalMulSliceXor adds c * in[i] to out[i] in GF(2^8). out must be at least as long as in.
func (l LowLevel) GalMulSliceXor(c byte, in, out []byte) { l.multiply(kernels.Mad, c, in, out) }
