package reedsolomon

import (
	"errors"

	"github.com/klauspost/reedsolomon/internal/codec"
)

// matrix is a list of rows of the same length.
type matrix [][]byte

func zeroMatrix(rows, columns int) matrix {
	made := make(matrix, rows)
	room := make([]byte, rows*columns)
	for i := range made {
		made[i] = room[i*columns:][:columns:columns]
	}
	return made
}

// filled returns the matrix of the elements at(i, j).
func filled(rows, columns int, at func(i, j int) byte) matrix {
	made := zeroMatrix(rows, columns)
	for i, row := range made {
		for j := range row {
			row[j] = at(i, j)
		}
	}
	return made
}

// times returns the product with a matrix that has as many rows as m columns.
func (m matrix) times(right matrix) matrix {
	return filled(len(m), len(right[0]), func(i, j int) (sum byte) {
		for l, x := range m[i] {
			sum ^= codec.Multiply(x, right[l][j])
		}
		return sum
	})
}

// inverse returns the inverse of a square matrix, by Gauss-Jordan elimination on rows of m and of the identity side by
// side. The error is errSingular.
func (m matrix) inverse() (matrix, error) {
	n := len(m)
	work := filled(n, 2*n, func(i, j int) byte {
		if j < n {
			return m[i][j]
		}
		return one(i == j-n)
	})
	for column := range work {
		pivot := column
		for pivot < n && work[pivot][column] == 0 {
			pivot++
		}
		if pivot == n {
			return nil, errSingular
		}
		work[column], work[pivot] = work[pivot], work[column]
		scale(work[column], codec.Inverse(work[column][column]))
		for i, row := range work {
			if c := row[column]; i != column && c != 0 {
				for j, x := range work[column] {
					row[j] ^= codec.Multiply(c, x)
				}
			}
		}
	}
	for i := range work {
		work[i] = work[i][n:]
	}
	return work, nil
}

func one(yes bool) byte {
	if yes {
		return 1
	}
	return 0
}

func scale(row []byte, c byte) {
	for j := range row {
		row[j] = codec.Multiply(row[j], c)
	}
}

// power returns a^n; 0^0 is 1.
func power(a byte, n int) byte {
	if n == 0 {
		return 1
	}
	if a == 0 {
		return 0
	}
	return codec.Power(codec.Logarithm(a) * n)
}

// parityMatrix returns the coefficients of the parity shards: m rows of k elements, k + m <= 256.
func (o *options) parityMatrix(k, m int) (matrix, error) {
	switch {
	case o.customMatrix != nil:
		return customMatrix(o.customMatrix, k, m)
	case o.fastOneParity && m == 1:
		return filled(1, k, func(_, _ int) byte { return 1 }), nil
	case o.matrix == cauchy:
		return filled(m, k, func(i, j int) byte { return codec.Inverse(byte(k+i) ^ byte(j)) }), nil
	case o.matrix == par1:
		return filled(m, k, func(i, j int) byte { return power(byte(j+1), i) }), nil
	case o.matrix == jerasure:
		return jerasureMatrix(k, m)
	}
	return standardMatrix(k, m), nil
}

func customMatrix(rows [][]byte, k, m int) (matrix, error) {
	if len(rows) < m {
		return nil, errors.New("coding matrix must contain at least parityShards rows")
	}
	for _, row := range rows[:m] {
		if len(row) < k {
			return nil, errors.New("coding matrix must contain at least dataShards columns")
		}
	}
	return filled(m, k, func(i, j int) byte { return rows[i][j] }), nil
}

// standardMatrix returns the product of the Vandermonde matrix of the points k to k + m - 1 and the inverse of that of
// the points 0 to k - 1. Its elements are the values of Lagrange's polynomials: element (i, j) is the value at k + i of
// the polynomial of degree k - 1 that is 1 at j and 0 at the other points.
func standardMatrix(k, m int) matrix {
	// The product of the differences to all points but j is that of all differences over one of them.
	weight := make([]int, k)
	for j := range weight {
		for l := 0; l < k; l++ {
			if l != j {
				weight[j] += codec.Logarithm(byte(j) ^ byte(l))
			}
		}
	}
	return filled(m, k, func(i, j int) byte {
		sum := -weight[j]
		for l := 0; l < k; l++ {
			if l != j {
				sum += codec.Logarithm(byte(k+i) ^ byte(l))
			}
		}
		return codec.Power((sum%255 + 255) % 255)
	})
}

// jerasureMatrix returns Jerasure's matrix: the systematic form of the Vandermonde matrix whose first and last rows are
// unit vectors, columns and then rows divided by their first element.
func jerasureMatrix(k, m int) (matrix, error) {
	extended := filled(k+m, k, func(i, j int) byte {
		switch i {
		case 0:
			return one(j == 0)
		case k + m - 1:
			return one(j == k-1)
		}
		return power(byte(i), j)
	})
	inverse, err := extended[:k].inverse()
	if err != nil {
		return nil, err
	}
	parity := extended[k:].times(inverse)
	for j, c := range append([]byte(nil), parity[0]...) {
		if c == 0 {
			return nil, errSingular
		}
		for _, row := range parity {
			row[j] = codec.Multiply(row[j], codec.Inverse(c))
		}
	}
	for _, row := range parity[1:] {
		if row[0] == 0 {
			return nil, errSingular
		}
		scale(row, codec.Inverse(row[0]))
	}
	return parity, nil
}
