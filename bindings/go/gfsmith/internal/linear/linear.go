// Package linear applies matrices over GF(2^8) to shards with proved kernels, and solves for lost shards. It imports
// only the field of package codec, so that modules other than this one can contain a copy.
package linear

import (
	"bytes"
	"unsafe"

	"gfsmith.example/go/codec"
	"gfsmith.example/go/gfsmith/internal/kernels"
)

// Map is a matrix as a list of passes over the sources, each computing some rows with one kernel.
type Map struct {
	inputs, step int // step: bytes of each source that all passes process before the next ones
	passes       []pass
	code         *Code
	operation    kernels.Operation
	rows         [][]byte
	groups       groups
}

// pass computes rows first, first + 1, ... with a kernel, an index of kernels.Kernels; Portable if it is less
// than 0. streaming: the kernel for shards in memory.
type pass struct {
	kernel, streaming, first, outputs int
	mad                               bool
	table                             []byte
}

// Portable is the number of the kernel in Go.
const Portable = -1

// The sources of one step stay in the second-level cache for all passes; a single pass reads them once. A step is short
// enough for the garbage collector, which has to wait for its end: a kernel is never preempted.
const (
	stepBytes = 256 << 10
	longBytes = 1 << 20 // of a single pass
	leastStep = 4 << 10
	Few       = 24  // number of shards whose pointers fit on the stack in any case
	most      = 256 // number of shards of any code: one for each element of the field
)

// Product returns the product of a coefficient and a byte. It is linear in the byte over GF(2).
type Product func(coefficient, x byte) byte

// Code is a parity matrix, rows of K coefficients, with the instruction set for its maps: an index of kernels.Sets, or
// Portable.
type Code struct {
	Set     int
	K       int
	Parity  [][]byte
	Product Product // nil: that of the field
}

// Map chooses the kernels for a matrix with the code's set and product. operation: Dot or Mad.
func (c *Code) Map(operation kernels.Operation, rows [][]byte) *Map {
	made := &Map{inputs: len(rows[0]), code: c, operation: operation, rows: rows}
	for first := 0; first < len(rows); {
		p := c.choose(operation, rows[first:])
		p.first = first
		made.passes = append(made.passes, p)
		first += p.outputs
	}
	made.step = made.stepOf()
	return made
}

func (m *Map) stepOf() int {
	size := stepBytes
	if len(m.passes) == 1 {
		size = longBytes
	}
	if whole := size / m.inputs &^ (leastStep - 1); whole > leastStep {
		return whole
	}
	return leastStep
}

// choose finds the kernel for the first rows: the one for a known matrix of most rows, else one with a table
// for as many rows as balance the passes, preferably one for exactly this number of sources.
func (c *Code) choose(operation kernels.Operation, rows [][]byte) pass {
	best, product := Portable, c.Product
	if product == nil {
		best, product = known(c.Set, operation, rows), codec.Multiply
	}
	if best == Portable {
		best = general(c.Set, operation, len(rows[0]), len(rows))
	}
	made := pass{kernel: best, streaming: streaming(best), outputs: 1, mad: operation == kernels.Mad}
	if best != Portable {
		made.outputs = kernels.Kernels[best].Outputs
	}
	made.table = table(best, rows[:made.outputs], product)
	return made
}

// known finds the kernel for a known matrix of most of the first rows.
func known(set int, operation kernels.Operation, rows [][]byte) int {
	best, most := Portable, 0
	for n, kernel := range kernels.Kernels {
		fits := kernel.Set == set && kernel.Operation == operation && !kernel.Streaming
		if fits && hasMatrix(kernel, rows) && kernel.Outputs > most {
			best, most = n, kernel.Outputs
		}
	}
	return best
}

// hasMatrix returns whether a kernel has the matrix of these rows.
func hasMatrix(kernel kernels.Kernel, rows [][]byte) bool {
	if kernel.Matrix < 0 || kernel.Outputs > len(rows) || kernel.Inputs != len(rows[0]) {
		return false
	}
	for i := 0; i < kernel.Outputs; i++ {
		if !bytes.Equal(kernels.Matrices[kernel.Matrix].Rows[kernel.First+i], rows[i]) {
			return false
		}
	}
	return true
}

// general finds a kernel with a table, which exist for 1 to some number of rows.
func general(set int, operation kernels.Operation, inputs, rows int) int {
	fits := func(kernel kernels.Kernel) bool {
		return kernel.Set == set && kernel.Operation == operation && kernel.Matrix < 0 && !kernel.Streaming &&
			(kernel.Inputs == 0 || kernel.Inputs == inputs)
	}
	largest := 0
	for _, kernel := range kernels.Kernels {
		if fits(kernel) && kernel.Outputs > largest {
			largest = kernel.Outputs
		}
	}
	if largest == 0 {
		return Portable
	}
	passes := (rows + largest - 1) / largest
	even := (rows + passes - 1) / passes
	best := Portable
	for n, kernel := range kernels.Kernels {
		if !fits(kernel) || kernel.Outputs > even {
			continue
		}
		if best == Portable || better(kernel, kernels.Kernels[best]) {
			best = n
		}
	}
	return best
}

func better(a, b kernels.Kernel) bool {
	if a.Outputs != b.Outputs {
		return a.Outputs > b.Outputs
	}
	return a.Inputs > b.Inputs
}

// table returns the table of a kernel: an entry for every coefficient, source by source.
func table(kernel int, rows [][]byte, product Product) []byte {
	entry := planes
	if kernel != Portable {
		switch kernels.Kernels[kernel].Tables {
		case kernels.None:
			return []byte{0}
		case kernels.Nibble:
			entry = nibbles
		case kernels.Affine:
			entry = affine
		}
	}
	var made []byte
	for j := range rows[0] {
		for i := range rows {
			made = entry(made, rows[i][j], product)
		}
	}
	return made
}

// nibbles appends c * n, then c * (n << 4), for n = 0..15.
func nibbles(made []byte, c byte, product Product) []byte {
	for shift := 0; shift < 8; shift += 4 {
		for n := 0; n < 16; n++ {
			made = append(made, product(c, byte(n<<shift)))
		}
	}
	return made
}

// affine appends the matrix of x -> c * x over GF(2), row i in byte 7 - i; bit b of it is bit i of c * 2^b.
func affine(made []byte, c byte, product Product) []byte {
	var rows [8]byte
	for b := 0; b < 8; b++ {
		column := product(c, 1<<b)
		for i := range rows {
			rows[7-i] |= column >> i & 1 << b
		}
	}
	return append(made, rows[:]...)
}

// planes appends c * 2^b for b = 0..7.
func planes(made []byte, c byte, product Product) []byte {
	for b := 0; b < 8; b++ {
		made = append(made, product(c, 1<<b))
	}
	return made
}

// pointers is an array with room for the pointers to the shards of a call.
type pointers interface {
	[2]unsafe.Pointer | [4]unsafe.Pointer | [Few]unsafe.Pointer | [most]unsafe.Pointer
}

// Apply runs the passes on bytes [at, end) of the shards. Pointers are stored in arrays on this goroutine's
// stack, which are no larger than necessary: the garbage collector tracks them, and the machine code returns
// before the stack can move.
func (m *Map) Apply(sources, targets [][]byte, at, end int) {
	switch {
	case m.isFar(len(sources[0])) && m.grouped():
		m.applyGroups(sources, targets, at, end)
	case len(sources) <= 2 && len(targets) <= 4:
		apply[[2]unsafe.Pointer, [4]unsafe.Pointer](m, sources, targets, at, end)
	case len(sources) <= Few && len(targets) <= Few:
		apply[[Few]unsafe.Pointer, [Few]unsafe.Pointer](m, sources, targets, at, end)
	default:
		apply[[most]unsafe.Pointer, [most]unsafe.Pointer](m, sources, targets, at, end)
	}
}

// apply has the arrays as variables of its own, not as slices of a caller's: while the garbage collector marks, a
// store through a slice takes several nanoseconds, because its memory may be in the heap.
func apply[From, To pointers](m *Map, sources, targets [][]byte, at, end int) {
	var from From
	var to To
	streams := m.streams(end-at, len(sources[0]))
	for ; at < end; at += m.step {
		next := at + m.step
		if next > end {
			next = end
		}
		for j, shard := range sources {
			from[j] = unsafe.Pointer(&shard[at])
		}
		for i, shard := range targets {
			to[i] = unsafe.Pointer(&shard[at])
		}
		for n := range m.passes {
			p := &m.passes[n]
			if p.kernel == Portable {
				p.run(sources, targets[p.first], at, next)
				continue
			}
			kernels.Run(p.kernelFor(streams), uintptr(next-at), uintptr(m.inputs), &p.table[0], &from[0], &to[p.first])
		}
	}
}
