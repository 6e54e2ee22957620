package reedsolomon

import (
	"fmt"
	"sync"
)

// The field of Leopard codes with more than 256 shards.
const polynomial16 = 0x1002d

var (
	cantor16     *cantor
	onceCantor16 sync.Once
)

// field16 returns GF(2^16). The first call makes its tables.
func field16() *cantor {
	onceCantor16.Do(func() { cantor16 = newCantor(16, polynomial16) })
	return cantor16
}

// GF16Mul returns a * b in GF(2^16) modulo 0x1002D, in Cantor's basis.
func (l LowLevel) GF16Mul(a, b uint16) uint16 { return field16().multiply(a, b) }

// products16 are the products of a constant and the elements with one byte: a low and a high one.
type products16 [2][256]uint16

func newProducts16(scalar uint16) *products16 {
	field, made := field16(), &products16{}
	for half := range made {
		for bit := 1; bit < 256; bit <<= 1 {
			product := field.multiply(scalar, uint16(bit)<<(8*half))
			for x := 0; x < bit; x++ {
				made[half][x|bit] = made[half][x] ^ product
			}
		}
	}
	return made
}

// add adds the products of the elements of `in` to `out`. Of each 64 bytes, the first 32 are the low bytes of 32
// elements, the others the high ones.
func (p *products16) add(in, out []byte) {
	for at := 0; at < len(in); at += 64 {
		from, to := in[at:at+64], out[at:at+64]
		for i := 0; i < 32; i++ {
			product := p[0][from[i]] ^ p[1][from[32+i]]
			to[i] ^= byte(product)
			to[32+i] ^= byte(product >> 8)
		}
	}
}

// check16 panics unless the lengths are equal multiples of 64.
func check16(call string, in []byte, outs ...[]byte) {
	if len(in)%leopardMultiple != 0 {
		panic(fmt.Sprintf("reedsolomon: %s: len(in)=%d must be a multiple of %d", call, len(in), leopardMultiple))
	}
	for _, out := range outs {
		if len(out) != len(in) {
			panic(fmt.Sprintf("reedsolomon: %s: len(out)=%d, expected %d", call, len(out), len(in)))
		}
	}
}

// GF16MulSliceXor adds scalar * in to out, element by element in GF(2^16). Both have the same length, a multiple of 64:
// of each 64 bytes, the first 32 are the low bytes of 32 elements, the others the high ones.
func (l LowLevel) GF16MulSliceXor(scalar uint16, in []byte, out []byte) {
	if len(in) == 0 {
		return
	}
	check16("GF16MulSliceXor", in, out)
	if scalar != 0 {
		newProducts16(scalar).add(in, out)
	}
}

// GF16MulSliceXor8 does the same for eight constants and outputs.
func (l LowLevel) GF16MulSliceXor8(scalars *[8]uint16, in []byte, outs *[8][]byte) {
	if len(in) == 0 {
		return
	}
	check16("GF16MulSliceXor8", in, outs[:]...)
	for i, scalar := range scalars {
		if scalar != 0 {
			newProducts16(scalar).add(in, outs[i])
		}
	}
}
