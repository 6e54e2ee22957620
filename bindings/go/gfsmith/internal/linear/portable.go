package linear

import (
	"encoding/binary"
	"unsafe"

	"gfsmith.example/go/gfsmith/internal/kernels"
)

const lows = 0x0101010101010101

// product returns c * x for the eight bytes of x: bit b of each, as 0 or 1, times c * 2^b. No product exceeds
// its byte, and no address depends on data.
func product(planes []byte, x uint64) uint64 {
	_ = planes[7]
	return x&lows*uint64(planes[0]) ^ x>>1&lows*uint64(planes[1]) ^ x>>2&lows*uint64(planes[2]) ^
		x>>3&lows*uint64(planes[3]) ^ x>>4&lows*uint64(planes[4]) ^ x>>5&lows*uint64(planes[5]) ^
		x>>6&lows*uint64(planes[6]) ^ x>>7&lows*uint64(planes[7])
}

// run computes bytes [at, end) of one row in Go.
func (p *pass) run(sources [][]byte, target []byte, at, end int) {
	for j, source := range sources {
		planes, fresh := p.table[8*j:8*j+8], j == 0 && !p.mad
		from, to := source[at:end], target[at:end]
		for ; len(to) >= 8; from, to = from[8:], to[8:] {
			sum := product(planes, binary.LittleEndian.Uint64(from))
			if !fresh {
				sum ^= binary.LittleEndian.Uint64(to)
			}
			binary.LittleEndian.PutUint64(to, sum)
		}
		for b := range to {
			sum := byte(product(planes, uint64(from[b])))
			if !fresh {
				sum ^= to[b]
			}
			to[b] = sum
		}
	}
}

// Xor computes dst = a + b, with the set's kernel if it has one.
func Xor(set int, dst, a, b []byte) {
	for n, kernel := range kernels.Kernels {
		if kernel.Set == set && kernel.Operation == kernels.Xor {
			from := [2]unsafe.Pointer{unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0])}
			to := unsafe.Pointer(&dst[0])
			kernels.Run(n, uintptr(len(dst)), 2, nil, &from[0], &to)
			return
		}
	}
	for ; len(dst) >= 8; dst, a, b = dst[8:], a[8:], b[8:] {
		binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(a)^binary.LittleEndian.Uint64(b))
	}
	for n := range dst {
		dst[n] = a[n] ^ b[n]
	}
}
