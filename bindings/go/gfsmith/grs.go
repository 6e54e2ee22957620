package gfsmith

import "gfsmith.example/go/codec"

// grs is a generalised Reed-Solomon code: equations equivalent to those of a code have the coefficients
// factor[n] * point[n]^l, l < m, with distinct points and factors other than 0. That is so exactly if the parity
// matrix is a Cauchy matrix up to factors of its rows and columns and a point at infinity (R. M. Roth,
// G. Seroussi, IEEE Trans. IT 31, 1985).
type grs struct {
	k, m   int
	point  []byte // never 0
	factor []byte
}

// pair is the point second / first of the projective line; one of them is not 0.
type pair struct{ first, second byte }

const line = 257 // points of the projective line

// numbered returns the point with a number below 256, or infinity.
func numbered(n int) pair {
	if n < line-1 {
		return pair{1, byte(n)}
	}
	return pair{0, 1}
}

func (a pair) number() int {
	if a.first == 0 {
		return line - 1
	}
	return int(codec.Multiply(a.second, codec.Inverse(a.first)))
}

// determinant returns 0 if both pairs are the same point.
func determinant(a, b pair) byte {
	return codec.Multiply(a.first, b.second) ^ codec.Multiply(a.second, b.first)
}

// newGRS returns the points and factors of the code with these m >= 2 rows, nil if it is no such code.
func newGRS(rows [][]byte) *grs {
	for _, row := range rows {
		for _, x := range row {
			if x == 0 {
				return nil
			}
		}
	}
	pairs := factorise(rows)
	if pairs == nil {
		return nil
	}
	zero, infinity, distinct := freePoints(pairs)
	if !distinct {
		return nil
	}
	g := &grs{k: len(rows[0]), m: len(rows), point: make([]byte, len(pairs)), factor: make([]byte, len(pairs))}
	toInfinity := make([]byte, len(pairs))
	for n, own := range pairs {
		toInfinity[n] = determinant(own, infinity)
		g.point[n] = codec.Multiply(determinant(own, zero), codec.Inverse(toInfinity[n]))
	}
	g.setFactors(toInfinity, determinant(zero, infinity))
	return g
}

// factorise finds a pair for every shard such that 1 / rows[i][j] is the determinant of those of parity i and data
// shard j. Those of the data follow from two rows, those of the parities from two columns; all other elements are
// compared. It returns nil if they differ.
func factorise(rows [][]byte) []pair {
	k := len(rows[0])
	pairs := make([]pair, k, k+len(rows))
	if k == 1 { // points of a free choice
		pairs[0] = pair{0, 1}
		for i, row := range rows {
			first := codec.Inverse(row[0])
			pairs = append(pairs, pair{first, codec.Multiply(first, byte(i))})
		}
		return pairs
	}
	for j := range pairs { // row 0 has the pair (0, 1) and row 1 (1, 0)
		pairs[j] = pair{codec.Inverse(rows[0][j]), codec.Inverse(rows[1][j])}
	}
	scale := determinant(pairs[0], pairs[1])
	if scale == 0 {
		return nil
	}
	scale = codec.Inverse(scale)
	for _, row := range rows {
		left := codec.Multiply(scale, codec.Inverse(row[0]))
		right := codec.Multiply(scale, codec.Inverse(row[1]))
		own := pair{
			codec.Multiply(left, pairs[1].first) ^ codec.Multiply(right, pairs[0].first),
			codec.Multiply(left, pairs[1].second) ^ codec.Multiply(right, pairs[0].second),
		}
		for j, x := range row {
			if codec.Multiply(x, determinant(own, pairs[j])) != 1 {
				return nil
			}
		}
		pairs = append(pairs, own)
	}
	return pairs
}

// freePoints returns two points that no shard has, to become 0 and infinity, and whether those of the shards are
// distinct. There are two, since there are 257 points and at most 255 shards.
func freePoints(pairs []pair) (zero, infinity pair, distinct bool) {
	var used [line]bool
	for _, own := range pairs {
		if used[own.number()] {
			return zero, infinity, false
		}
		used[own.number()] = true
	}
	n := 0
	for used[n] {
		n++
	}
	zero = numbered(n)
	for n++; used[n]; n++ {
	}
	return zero, numbered(n), true
}

// setFactors uses that rows[i][j] is the constant times 1 / (R_i * R_j * (z_i + z_j)), R the determinants with the
// point that becomes infinity. The equation of power l is the sum over i of z_i^l * R_i / Y'(z_i) times equation i,
// Y(z) the product of z + z_i over the parities; by partial fractions it has at data shard j the coefficient
// constant * z_j^l / (R_j * Y(z_j)).
func (g *grs) setFactors(r []byte, constant byte) {
	for n := range g.factor {
		product := byte(1)
		for i := g.k; i < g.k+g.m; i++ {
			if i != n {
				product = codec.Multiply(product, g.point[n]^g.point[i])
			}
		}
		if n < g.k {
			g.factor[n] = codec.Multiply(constant, codec.Inverse(codec.Multiply(r[n], product)))
		} else {
			g.factor[n] = codec.Multiply(r[n], codec.Inverse(product))
		}
	}
}

// valueAt returns the value of a polynomial at x; coefficients: from the lowest power on.
func valueAt(coefficients []byte, x byte) byte {
	total := byte(0)
	for n := len(coefficients) - 1; n >= 0; n-- {
		total = codec.Multiply(total, x) ^ coefficients[n]
	}
	return total
}

// derivative returns the formal derivative: only the odd powers remain.
func derivative(coefficients []byte) []byte {
	found := make([]byte, len(coefficients)-1)
	for n := 1; n < len(coefficients); n += 2 {
		found[n-1] = coefficients[n]
	}
	return found
}

// powerSums returns S[l], the sum over wrong shards n of factor[n] * error[n] * point[n]^l, for l < m.
func (g *grs) powerSums(syndrome []byte) []byte {
	sums := make([]byte, g.m)
	for i, s := range syndrome {
		term := codec.Multiply(g.factor[g.k+i], s)
		for l := range sums {
			sums[l] ^= term
			term = codec.Multiply(term, g.point[g.k+i])
		}
	}
	return sums
}

// recurrence returns the shortest one of the power sums, by Berlekamp and Massey: the sum over i of
// locator[i] * S[l - i] is 0, and locator[0] is 1 (J. L. Massey, IEEE Trans. IT 15, 1969).
func recurrence(sums []byte) (locator []byte) {
	locator = make([]byte, len(sums)+1)
	previous := make([]byte, len(locator))
	locator[0], previous[0] = 1, 1
	divisor, length, shift := byte(1), 0, 1
	for l := range sums {
		difference := byte(0)
		for i := 0; i <= length; i++ {
			difference ^= codec.Multiply(locator[i], sums[l-i])
		}
		if difference != 0 {
			kept := append([]byte(nil), locator...)
			factor := codec.Multiply(difference, codec.Inverse(divisor))
			for i := shift; i < len(locator); i++ {
				locator[i] ^= codec.Multiply(factor, previous[i-shift])
			}
			if 2*length <= l {
				length, previous, divisor, shift = l+1-length, kept, difference, 0
			}
		}
		shift++
	}
	return locator[:length+1]
}

// decode explains a syndrome other than 0 by the fewest wrong shards, at most m / 2 of them; it returns nil if that
// is impossible. If the locator is the product of 1 + point[n] * x over the wrong shards, and the numerator its
// product with the power sums modulo x^m, then at x = 1 / point[n] (G. D. Forney, IEEE Trans. IT 11, 1965)
//
//	factor[n] * error[n] = point[n] * numerator(x) / locator'(x).
func (g *grs) decode(syndrome []byte) []symbol {
	sums := g.powerSums(syndrome)
	locator := recurrence(sums)
	count := len(locator) - 1
	if count > g.m/2 {
		return nil
	}
	numerator := make([]byte, count)
	for n := range numerator {
		for i := 0; i <= n; i++ {
			numerator[n] ^= codec.Multiply(locator[i], sums[n-i])
		}
	}
	slopes := derivative(locator)
	var wrong []symbol
	for shard, point := range g.point {
		x := codec.Inverse(point)
		if valueAt(locator, x) == 0 {
			divisor := codec.Multiply(codec.Multiply(valueAt(slopes, x), x), g.factor[shard])
			value := codec.Multiply(valueAt(numerator, x), codec.Inverse(divisor))
			wrong = append(wrong, symbol{shard, value})
		}
	}
	if len(wrong) != count { // fewer roots than the length
		return nil
	}
	return wrong
}
