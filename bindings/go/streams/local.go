package streams

// polynomial is that of the field.
const polynomial = 0x11d

// exponentials returns the powers of 2 in the field, and the logarithm of every element but 0.
func exponentials() (power [255]byte, logarithm [256]int) {
	value := 1
	for n := range power {
		power[n] = byte(value)
		logarithm[value] = n
		if value <<= 1; value > 255 {
			value ^= polynomial
		}
	}
	return power, logarithm
}

// spread is the number of subspaces of 16 elements, and spreadPoints the number of points in each.
const (
	spread       = 17
	spreadPoints = 15
)

// localParity returns the parity matrix of a local reconstruction code with k data shards in l groups and r global
// parities; generator/gfsmith/codes/lrc.py has its definition and its theorems.
func localParity(k, l, r int) [][]byte {
	power, logarithm := exponentials()
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
					rows[l+t][j] = power[(255+logarithm[x]-logarithm[x^(t+1)])%255]
				case r == 1:
					rows[l+t][j] = power[i%255]
				default: // the point 2^(group + 17 i) to the power 2^t
					rows[l+t][j] = power[(group+spread*i)<<t%255]
				}
			}
		}
	}
	return rows
}
