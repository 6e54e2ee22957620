package reedsolomon

import (
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/klauspost/reedsolomon/internal/kernels"
	"github.com/klauspost/reedsolomon/internal/linear"
)

// Option changes a setting of New, NewStream or LowLevel.
type Option func(*options)

// family selects the matrix.
type family uint8

const (
	standard family = iota
	cauchy
	par1
	jerasure
)

// leopard selects a Leopard code.
type leopard uint8

const (
	leopardAbove256 leopard = iota // for more than 256 shards, over GF(2^16)
	leopard16                      // always over GF(2^16)
	leopardAlways                  // always, over GF(2^8) if it has enough elements
)

type options struct {
	maxGoroutines int
	minSplitSize  int // 0: minSharedBytes decides
	shardSize     int // of WithAutoGoroutines

	useSSE2, useSSSE3, useAVX2, useAVX512, useAvxGNFI, useAvx512GFNI, useNEON, useSVE bool

	matrix         family
	customMatrix   [][]byte
	fastOneParity  bool
	inversionCache bool
	leopard        leopard
	workAlloc      WorkAllocator

	concReads, concWrites bool
	streamBlock           int
}

// defaultOptions has the instruction sets of this machine.
var defaultOptions = options{
	maxGoroutines:  384,
	inversionCache: true,
	useSSE2:        cpuid.CPU.Supports(cpuid.SSE2),
	useSSSE3:       cpuid.CPU.Supports(cpuid.SSSE3),
	useAVX2:        cpuid.CPU.Supports(cpuid.AVX2),
	useAVX512:      cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512VL),
	useAvxGNFI:     cpuid.CPU.Supports(cpuid.AVX2, cpuid.GFNI),
	useAvx512GFNI:  cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512VL, cpuid.GFNI),
	useNEON:        cpuid.CPU.Supports(cpuid.ASIMD),
	useSVE:         cpuid.CPU.Supports(cpuid.SVE),
}

// allowed maps the name of an instruction set to the option that allows it.
var allowed = map[string]func(o *options) bool{
	"sse":         func(o *options) bool { return o.useSSSE3 },
	"avx2":        func(o *options) bool { return o.useAVX2 },
	"avx512":      func(o *options) bool { return o.useAVX512 },
	"gfni_avx2":   func(o *options) bool { return o.useAvxGNFI },
	"gfni_avx512": func(o *options) bool { return o.useAvx512GFNI },
	"neon":        func(o *options) bool { return o.useNEON },
}

// set returns the best allowed instruction set.
func (o *options) set() int {
	for n, set := range kernels.Sets {
		if permits := allowed[set.Name]; permits != nil && permits(o) && linear.Able(set) {
			return n
		}
	}
	return linear.Portable
}

// cpuOptions returns the names of the allowed instruction sets.
func (o *options) cpuOptions() string {
	var names []string
	for _, each := range []struct {
		name string
		used bool
	}{
		{"SSE2", o.useSSE2}, {"SSSE3", o.useSSSE3}, {"AVX2", o.useAVX2}, {"AVX512", o.useAVX512},
		{"AVX+GFNI", o.useAvxGNFI}, {"AVX512+GFNI", o.useAvx512GFNI}, {"NEON", o.useNEON}, {"SVE", o.useSVE},
	} {
		if each.used {
			names = append(names, each.name)
		}
	}
	if len(names) == 0 {
		return "pure Go"
	}
	return strings.Join(names, ",")
}

// WithMaxGoroutines sets the maximum number of goroutines that compute in a call. n <= 0 has no effect.
func WithMaxGoroutines(n int) Option {
	return func(o *options) {
		if n > 0 {
			o.maxGoroutines = n
		}
	}
}

// WithAutoGoroutines chooses the number of goroutines for shards of this length, instead of WithMaxGoroutines.
// shardSize <= 0 has no effect.
func WithAutoGoroutines(shardSize int) Option { return func(o *options) { o.shardSize = shardSize } }

// WithMinSplitSize sets the least number of bytes of a shard that a goroutine processes. n <= 0 has no effect.
func WithMinSplitSize(n int) Option {
	return func(o *options) {
		if n > 0 {
			o.minSplitSize = n
		}
	}
}

// WithConcurrentStreams sets WithConcurrentStreamReads and WithConcurrentStreamWrites.
func WithConcurrentStreams(enabled bool) Option {
	return func(o *options) { o.concReads, o.concWrites = enabled, enabled }
}

// WithConcurrentStreamReads has a StreamEncoder read all streams at the same time.
func WithConcurrentStreamReads(enabled bool) Option {
	return func(o *options) { o.concReads = enabled }
}

// WithConcurrentStreamWrites has a StreamEncoder write all streams at the same time.
func WithConcurrentStreamWrites(enabled bool) Option {
	return func(o *options) { o.concWrites = enabled }
}

// WithInversionCache chooses whether an encoder keeps the plans of repairs. It does by default.
func WithInversionCache(enabled bool) Option { return func(o *options) { o.inversionCache = enabled } }

// WithStreamBlockSize sets the bytes of each shard that a StreamEncoder reads at once. The default is the size of
// WithAutoGoroutines, or 4 MiB.
func WithStreamBlockSize(n int) Option { return func(o *options) { o.streamBlock = n } }

// WithSSE2 allows or forbids SSE2. No kernel needs it alone.
func WithSSE2(enabled bool) Option {
	return func(o *options) { o.useSSE2 = enabled && defaultOptions.useSSE2 }
}

// WithSSSE3 allows or forbids kernels for SSSE3.
func WithSSSE3(enabled bool) Option {
	return func(o *options) { o.useSSSE3 = enabled && defaultOptions.useSSSE3 }
}

// WithAVX2 allows or forbids kernels for AVX2; false also forbids those with GFNI.
func WithAVX2(enabled bool) Option {
	return func(o *options) {
		o.useAVX2 = enabled && defaultOptions.useAVX2
		o.useAvxGNFI = o.useAvxGNFI && enabled
	}
}

// WithAVX512 allows or forbids kernels for AVX-512, with and without GFNI.
func WithAVX512(enabled bool) Option {
	return func(o *options) {
		o.useAVX512 = enabled && defaultOptions.useAVX512
		o.useAvx512GFNI = enabled && defaultOptions.useAvx512GFNI
	}
}

// WithGFNI allows or forbids kernels for AVX-512 with GFNI.
func WithGFNI(enabled bool) Option {
	return func(o *options) { o.useAvx512GFNI = enabled && defaultOptions.useAvx512GFNI }
}

// WithAVXGFNI allows or forbids kernels for AVX2 with GFNI.
func WithAVXGFNI(enabled bool) Option {
	return func(o *options) { o.useAvxGNFI = enabled && defaultOptions.useAvxGNFI }
}

// WithNEON allows or forbids kernels for NEON; false also forbids SVE.
func WithNEON(enabled bool) Option {
	return func(o *options) {
		o.useNEON = enabled && defaultOptions.useNEON
		o.useSVE = o.useSVE && enabled
	}
}

// WithSVE allows or forbids SVE. No kernel needs it.
func WithSVE(enabled bool) Option {
	return func(o *options) { o.useSVE = enabled && defaultOptions.useSVE }
}

// WithJerasureMatrix selects the matrix of Jerasure's reed_sol_vandermonde_coding_matrix.
func WithJerasureMatrix() Option { return func(o *options) { o.matrix = jerasure } }

// WithPAR1Matrix selects the matrix of PAR 1, which cannot repair every loss.
func WithPAR1Matrix() Option { return func(o *options) { o.matrix = par1 } }

// WithCauchyMatrix selects the matrix 1 / (i + j).
func WithCauchyMatrix() Option { return func(o *options) { o.matrix = cauchy } }

// WithFastOneParityMatrix makes a single parity shard the sum of all data shards.
func WithFastOneParityMatrix() Option { return func(o *options) { o.fastOneParity = true } }

// WithCustomMatrix sets the coefficients of the parity shards: a row for each parity shard, a column for each data
// shard. Further rows and columns are ignored.
func WithCustomMatrix(customMatrix [][]byte) Option {
	return func(o *options) { o.customMatrix = customMatrix }
}

// WithLeopardGF16 selects the Leopard code over GF(2^16) for any number of shards.
func WithLeopardGF16(enabled bool) Option {
	return func(o *options) {
		o.leopard = leopardAbove256
		if enabled {
			o.leopard = leopard16
		}
	}
}

// WithLeopardGF selects a Leopard code for any number of shards: over GF(2^8) for up to 256, else over GF(2^16).
func WithLeopardGF(enabled bool) Option {
	return func(o *options) {
		o.leopard = leopardAbove256
		if enabled {
			o.leopard = leopardAlways
		}
	}
}

// WithWorkAllocator sets the memory of Leopard codes. It has no effect on other codes.
func WithWorkAllocator(alloc WorkAllocator) Option {
	return func(o *options) { o.workAlloc = alloc }
}
