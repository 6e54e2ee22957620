package codec

// Polynomial is that of the field, x^8 + x^4 + x^3 + x^2 + 1; 2 generates all elements but 0.
const Polynomial = 0x11d

var exponent, logarithm = func() (powers [510]byte, logs [256]int) {
	x := 1
	for n := 0; n < 255; n++ {
		powers[n], powers[n+255], logs[x] = byte(x), byte(x), n
		if x <<= 1; x > 255 {
			x ^= Polynomial
		}
	}
	return
}()

// Multiply returns a * b.
func Multiply(a, b byte) byte {
	if a == 0 || b == 0 {
		return 0
	}
	return exponent[logarithm[a]+logarithm[b]]
}

// Inverse returns 1 / a; a is not 0.
func Inverse(a byte) byte { return exponent[255-logarithm[a]] }

// Power returns the n-th power of 2; n is not negative.
func Power(n int) byte { return exponent[n%255] }

// Logarithm returns the n from 0 to 254 of which a is the n-th power of 2; a is not 0.
func Logarithm(a byte) int { return logarithm[a] }
