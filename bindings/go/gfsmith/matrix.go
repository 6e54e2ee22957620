package gfsmith

import (
	"fmt"

	"gfsmith.example/go/codec"
	"gfsmith.example/go/gfsmith/internal/kernels"
)

// This package does not link the C library, so it has its own matrices and isMDS; its tests compare them with the
// library's.

// formulas contains the elements c[i][j] of parity matrices; docs/codes.md of gfsmith cites their sources.
var formulas = map[Code]func(k, i, j int) byte{
	Cauchy:      func(k, i, j int) byte { return codec.Inverse(byte((k + i) ^ j)) },
	Vandermonde: func(_, i, j int) byte { return codec.Power(i * j) },
	Backblaze:   lagrange,
}

// lagrange returns the value at k + i of the polynomial of degree k - 1 that is 1 at j and 0 at the
// rest of 0 .. k - 1.
func lagrange(k, i, j int) byte {
	sum := 0
	for l := 0; l < k; l++ {
		if l != j {
			sum += 255 + codec.Logarithm(byte((k+i)^l)) - codec.Logarithm(byte(j^l))
		}
	}
	return codec.Power(sum)
}

// isMDS returns whether ISA-L's Vandermonde matrix can repair every loss at a shape, by the list in gfsmith.h.
func isMDS(k, m int) bool {
	return m <= 3 || k <= 3 || m == 4 && k <= 21 || k == 4 && k+m <= 25 || k == 5 && k+m <= 10
}

// matrixOf returns the parity matrix of a code: m rows of k.
func matrixOf(code Code, k, m int) ([][]byte, error) {
	formula := formulas[code]
	if formula == nil {
		return generated(code, k, m)
	}
	if code == Vandermonde && !isMDS(k, m) {
		return nil, fmt.Errorf("%w: %s %d+%d", codec.ErrNotMDS, code, k, m)
	}
	rows := make([][]byte, m)
	for i := range rows {
		rows[i] = make([]byte, k)
		for j := range rows[i] {
			rows[i][j] = formula(k, i, j)
		}
	}
	return rows, nil
}

// generated returns a matrix that was exported with the kernels.
func generated(code Code, k, m int) ([][]byte, error) {
	for _, known := range kernels.Matrices {
		if known.Code == string(code) && known.K == k && known.M == m {
			return known.Rows, nil
		}
	}
	return nil, fmt.Errorf("%w: code %q at %d+%d; allowed: %s, %s, %s and the codes in gfsmith.toml",
		codec.ErrUnsupported, code, k, m, Cauchy, Vandermonde, Backblaze)
}
