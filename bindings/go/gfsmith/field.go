package gfsmith

// GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1, with generator 2. This package does not link
// the C library, so it has its own field, matrices and isMDS; its tests compare them with the library's.
const polynomial = 0x11d

var exponent, logarithm = func() (powers [510]byte, logs [256]int) {
	x := 1
	for n := 0; n < 255; n++ {
		powers[n], powers[n+255], logs[x] = byte(x), byte(x), n
		if x <<= 1; x > 255 {
			x ^= polynomial
		}
	}
	return
}()

// multiply returns a * b.
func multiply(a, b byte) byte {
	if a == 0 || b == 0 {
		return 0
	}
	return exponent[logarithm[a]+logarithm[b]]
}

// inverse returns 1 / a; a is not 0.
func inverse(a byte) byte { return exponent[255-logarithm[a]] }

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}
