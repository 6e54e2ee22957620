package reedsolomon

// Internal names that the tests of klauspost/reedsolomon use, in terms of the package under test. Its test files then
// compile unchanged.

import (
	"github.com/klauspost/reedsolomon/internal/codec"
	"github.com/klauspost/reedsolomon/internal/kernels"
	"github.com/klauspost/reedsolomon/internal/linear"
)

const raceEnabled = false

func galAdd(a, b byte) byte      { return a ^ b }
func galMultiply(a, b byte) byte { return codec.Multiply(a, b) }
func galDivide(a, b byte) byte   { return codec.Multiply(a, codec.Inverse(b)) }
func galOneOver(a byte) byte     { return codec.Inverse(a) }
func galExp(a byte, n int) byte  { return power(a, n) }

var mulTable = func() (table [256][256]byte) {
	for a := range table {
		for b := range table[a] {
			table[a][b] = codec.Multiply(byte(a), byte(b))
		}
	}
	return table
}()

func galMulSlice(c byte, in, out []byte, o *options)    { LowLevel{o}.GalMulSlice(c, in, out) }
func galMulSliceXor(c byte, in, out []byte, o *options) { LowLevel{o}.GalMulSliceXor(c, in, out) }
func sliceXor(in, out []byte, o *options)               { linear.Xor(o.set(), out, out, in) }

// Tests of code generators, in a file that is left out, call functions with these names.
const codeGenMaxInputs, codeGenMaxOutputs = 0, 0

func genCodeGenMatrix([][]byte, int, int, int, int, []byte) []byte { panic("not a generated kernel") }

func newMatrix(rows, columns int) (matrix, error) { return zeroMatrix(rows, columns), nil }

// Invert returns the inverse.
func (m matrix) Invert() (matrix, error) { return m.inverse() }

// systematic returns the identity above a parity matrix.
func systematic(o options, dataShards, totalShards int) (matrix, error) {
	parity, err := o.parityMatrix(dataShards, totalShards-dataShards)
	identity := filled(dataShards, dataShards, func(i, j int) byte { return one(i == j) })
	return append(identity, parity...), err
}

func buildMatrixJerasure(dataShards, totalShards int) (matrix, error) {
	return systematic(options{matrix: jerasure}, dataShards, totalShards)
}

func buildMatrixPAR1(dataShards, totalShards int) (matrix, error) {
	return systematic(options{matrix: par1}, dataShards, totalShards)
}

// codeSomeShards computes outputs, or adds to them.
func (r *reedSolomon) codeSomeShards(rows, inputs, outputs [][]byte, length int, clear bool) {
	operation := kernels.Mad
	if clear {
		operation = kernels.Dot
	}
	r.apply(r.Map(operation, rows), inputs, outputs, length)
}

const order, order8 = maxLeopardShards, maxShards

type (
	ffe  uint16
	ffe8 uint8
)

// addMod is called by a test that is left out.
func addMod(ffe, ffe) ffe { panic("not used") }

// The tables of GF(2^16), in Cantor's basis.
var expLUT, logLUT []ffe

func initConstants() {
	field := field16()
	for _, x := range field.exponent {
		expLUT = append(expLUT, ffe(x))
	}
	for _, x := range field.logarithm {
		logLUT = append(logLUT, ffe(x))
	}
}

func mulLog(a, logarithm ffe) ffe {
	return ffe(field16().multiply(uint16(a), uint16(expLUT[logarithm])))
}

func mulgf16Xor(out, in []byte, logarithm ffe, _ *options) {
	LowLevel{}.GF16MulSliceXor(uint16(expLUT[logarithm]), in, out)
}

func mulgf16Xor8(scalars *[8]uint16, in []byte, outs *[8][]byte, _ *options) {
	LowLevel{}.GF16MulSliceXor8(scalars, in, outs)
}

// The products by constants of GF(2^8), in Cantor's basis.
var mul8LUTs [256]struct{ Value [256]byte }

func initConstants8() {
	field := newCantor(8, codec.Polynomial)
	for logarithm := range mul8LUTs {
		for x := 1; x < 256; x++ {
			mul8LUTs[logarithm].Value[x] = byte(field.multiply(field.exponent[logarithm], uint16(x)))
		}
	}
}

func refMulAdd8(out, in []byte, logarithm ffe8) {
	for i, x := range in {
		out[i] ^= mul8LUTs[logarithm].Value[x]
	}
}
