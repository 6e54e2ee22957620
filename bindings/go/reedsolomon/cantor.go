package reedsolomon

// cantor is a field GF(2^w) whose elements are written in Cantor's basis b[0] = 1, b[i]^2 + b[i] = b[i-1], in which the
// transforms of Leopard codes are defined: bit i of an element is its coefficient at b[i]. Products are computed in the
// polynomial basis.
type cantor struct {
	exponent  []uint16 // powers of x, in Cantor's basis; twice, so that sums of two logarithms are indices
	logarithm []uint16 // of elements in Cantor's basis
	element   []uint16 // an element in Cantor's basis -> in the polynomial basis
}

// newCantor returns GF(2^width) modulo a primitive polynomial.
func newCantor(width int, polynomial int) *cantor {
	order := 1 << width
	powers, logs := make([]uint16, order-1), make([]uint16, order)
	x := 1
	for n := range powers {
		powers[n], logs[x] = uint16(x), uint16(n)
		if x <<= 1; x >= order {
			x ^= polynomial
		}
	}
	square := func(a uint16) uint16 {
		if a == 0 {
			return 0
		}
		return powers[2*int(logs[a])%(order-1)]
	}
	c := &cantor{make([]uint16, 2*(order-1)), make([]uint16, order), make([]uint16, order)}
	next := uint16(1)
	for bit := 1; bit < order; bit <<= 1 {
		for a := 0; a < bit; a++ {
			c.element[a|bit] = c.element[a] ^ next
		}
		next = half(square, next, order)
	}
	for a := 1; a < order; a++ {
		log := logs[c.element[a]]
		c.logarithm[a] = log
		c.exponent[log], c.exponent[int(log)+order-1] = uint16(a), uint16(a)
	}
	return c
}

// half returns the even solution y of y^2 + y = a, 0 if there is none. The other one is y + 1.
func half(square func(uint16) uint16, a uint16, order int) uint16 {
	for y := 2; y < order; y += 2 {
		if square(uint16(y))^uint16(y) == a {
			return uint16(y)
		}
	}
	return 0
}

// multiply returns a * b, all in Cantor's basis.
func (c *cantor) multiply(a, b uint16) uint16 {
	if a == 0 || b == 0 {
		return 0
	}
	return c.exponent[int(c.logarithm[a])+int(c.logarithm[b])]
}
