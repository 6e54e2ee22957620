package streams

import "gfsmith.example/go/codec"

// spread is the number of subspaces of 16 elements, and spreadPoints the number of points in each.
const (
	spread       = 17
	spreadPoints = 15
)

// localParity returns the parity matrix of a local reconstruction code with k data shards in l groups and r global
// parities; generator/gfsmith/codes/lrc.py has its definition and its theorems.
func localParity(k, l, r int) [][]byte {
	rows := make([][]byte, l+r)
	for i := range rows {
		rows[i] = make([]byte, k)
	}
	largest := (k + l - 1) / l
	points := r == 1 || r == 2 && l <= spread && largest <= spreadPoints
	for group, j := 0, 0; group < l; group++ {
		size := k / l
		if group < k%l {
			size++
		}
		for i := 0; i < size; i, j = i+1, j+1 {
			rows[group][j] = 1
			for t := 0; t < r; t++ {
				switch {
				case !points: // a row of the Cauchy matrix with scaled columns: x / (x + t + 1)
					x := r + 1 + j
					rows[l+t][j] = codec.Multiply(byte(x), codec.Inverse(byte(x^(t+1))))
				case r == 1:
					rows[l+t][j] = codec.Power(i)
				default: // the point 2^(group + 17 i) to the power 2^t
					rows[l+t][j] = codec.Power((group + spread*i) << t)
				}
			}
		}
	}
	return rows
}
