package reedsolomon

import (
	"sync"

	"github.com/klauspost/reedsolomon/internal/codec"
)

// maxLeopardShards is the number of elements of GF(2^16).
const maxLeopardShards = 1 << 16

// leopardMultiple is the number of which the length of the shards of a Leopard code must be a multiple.
const leopardMultiple = 64

// ceilPow2 returns the least power of two that is not less than n > 0.
func ceilPow2(n int) int {
	power := 1
	for power < n {
		power <<= 1
	}
	return power
}

// leopardFits returns whether a field has enough elements: a block of ceilPow2(parityShards) for the parity shards, and
// such blocks for the data shards.
func leopardFits(dataShards, parityShards, order int) bool {
	if dataShards <= 0 || parityShards <= 0 || dataShards > order || parityShards > order {
		return false
	}
	block := ceilPow2(parityShards)
	return block+(dataShards+block-1)/block*block <= order
}

func newLeopard(dataShards, parityShards int, o options) (Encoder, error) {
	if parityShards == 0 {
		return nil, ErrInvShardNum
	}
	narrow := o.leopard == leopardAlways && dataShards+parityShards <= maxShards
	if narrow && leopardFits(dataShards, parityShards, maxShards) {
		return newLeopard8(dataShards, parityShards, o), nil
	}
	if narrow || !leopardFits(dataShards, parityShards, maxLeopardShards) {
		return nil, ErrInvShardCombo
	}
	return newLeopard16(dataShards, parityShards, o), nil
}

// unsupported has the methods that Leopard codes do not support.
type unsupported struct{}

// EncodeIdx is not supported.
func (unsupported) EncodeIdx([]byte, int, [][]byte) error { return ErrNotSupported }

// Update is not supported.
func (unsupported) Update([][]byte, [][]byte) error { return ErrNotSupported }

// DecodeIdx is not supported.
func (unsupported) DecodeIdx([][]byte, []bool, [][]byte) error { return ErrNotSupported }

// leopardSplit is Split for shards whose length is a multiple of leopardMultiple.
func leopardSplit(data []byte, dataShards, totalShards int) ([][]byte, error) {
	if len(data) == 0 {
		return nil, ErrShortData
	}
	each := (len(data) + dataShards - 1) / dataShards
	return split(data, (each+leopardMultiple-1)/leopardMultiple*leopardMultiple, totalShards), nil
}

var (
	cantor8     *cantor
	onceCantor8 sync.Once
)

// leopard8 is the Leopard code over GF(2^8), as a parity matrix. A byte of a shard is an element in Cantor's basis, so the
// kernels get tables for products in that basis. The transforms of the original need fewer products with many parities.
type leopard8 struct {
	unsupported
	linearCode
}

// linearCode is one level deeper, so that the methods of unsupported have precedence.
type linearCode struct{ *reedSolomon }

func newLeopard8(k, m int, o options) Encoder {
	onceCantor8.Do(func() { cantor8 = newCantor(8, codec.Polynomial) })
	r := withMatrix(k, leopardMatrix(k, m), o)
	r.multiple = leopardMultiple
	r.Product = func(c, x byte) byte {
		if c == 0 || x == 0 {
			return 0
		}
		return byte(cantor8.exponent[codec.Logarithm(c)+int(cantor8.logarithm[x])])
	}
	r.start()
	return leopard8{linearCode: linearCode{r}}
}

// leopardMatrix returns the parity matrix, in the polynomial basis. The elements of the field, as they are numbered in
// Cantor's basis, are divided into blocks of n = ceilPow2(m); the parity shards are values at the points of block 0, the
// data shards at those of the following ones. Each block of data determines a polynomial of degree less than n, and the
// parity shards are the values of the sum of these polynomials. So element (i, j) is the value at point i of the
// polynomial that is 1 at the point of data shard j and 0 at the others of its block.
func leopardMatrix(k, m int) matrix {
	n := ceilPow2(m)
	point := func(i int) byte { return byte(cantor8.element[i]) }
	weight := 0 // the logarithm of the product of the differences of a point to the others of its block
	for l := 1; l < n; l++ {
		weight += codec.Logarithm(point(l))
	}
	return filled(m, k, func(i, j int) byte {
		own := n + j
		first := own / n * n
		sum := 255*n - weight
		for l := first; l < first+n; l++ {
			if l != own {
				sum += codec.Logarithm(point(i) ^ point(l))
			}
		}
		return codec.Power(sum)
	})
}

// ReconstructSome rebuilds all shards if there is a flag for each of them, else the data shards, as the original does.
func (l leopard8) ReconstructSome(shards [][]byte, required []bool) error {
	if len(required) == l.totalShards {
		return l.Reconstruct(shards)
	}
	return l.ReconstructData(shards)
}

// Split implements Encoder.
func (l leopard8) Split(data []byte) ([][]byte, error) {
	return leopardSplit(data, l.dataShards, l.totalShards)
}
