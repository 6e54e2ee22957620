package gfsmith

import (
	"bytes"
	"unsafe"

	"gfsmith.example/go/codec"
	"gfsmith.example/go/gfsmith/internal/kernels"
)

// linear is a matrix as a list of passes over the sources, each computing some rows with one kernel.
type linear struct {
	inputs int
	passes []pass
}

// pass computes rows first, first + 1, ... with a kernel, an index of kernels.Kernels; portable if it is less
// than 0.
type pass struct {
	kernel, first, outputs int
	mad                    bool
	table                  []byte
}

// portable is the number of the kernel in Go.
const portable = -1

// The sources of one step stay in the second-level cache for all passes. A step is short enough for the garbage
// collector, which has to wait for its end: a kernel is never preempted.
const (
	stepBytes = 256 << 10
	leastStep = 4 << 10
	few       = 24 // number of shards whose pointers fit on the stack in any case
)

// newLinear chooses the kernels. rows: all of the same length, for operation Dot or Mad.
func newLinear(set int, operation kernels.Operation, rows [][]byte) *linear {
	made := &linear{inputs: len(rows[0])}
	for first := 0; first < len(rows); {
		p := choose(set, operation, rows[first:])
		p.first = first
		made.passes = append(made.passes, p)
		first += p.outputs
	}
	return made
}

// choose finds the kernel for the first rows: the one for a known matrix of most rows, else one with a table
// for as many rows as balance the passes, preferably one for exactly this number of sources.
func choose(set int, operation kernels.Operation, rows [][]byte) pass {
	best, most := portable, 0
	for n, kernel := range kernels.Kernels {
		if kernel.Set == set && kernel.Operation == operation && hasMatrix(kernel, rows) && kernel.Outputs > most {
			best, most = n, kernel.Outputs
		}
	}
	if best == portable {
		best = general(set, operation, len(rows[0]), len(rows))
	}
	made := pass{kernel: best, outputs: 1, mad: operation == kernels.Mad}
	if best != portable {
		made.outputs = kernels.Kernels[best].Outputs
	}
	made.table = table(best, rows[:made.outputs])
	return made
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
		return kernel.Set == set && kernel.Operation == operation && kernel.Matrix < 0 &&
			(kernel.Inputs == 0 || kernel.Inputs == inputs)
	}
	largest := 0
	for _, kernel := range kernels.Kernels {
		if fits(kernel) && kernel.Outputs > largest {
			largest = kernel.Outputs
		}
	}
	if largest == 0 {
		return portable
	}
	passes := (rows + largest - 1) / largest
	even := (rows + passes - 1) / passes
	best := portable
	for n, kernel := range kernels.Kernels {
		if !fits(kernel) || kernel.Outputs > even {
			continue
		}
		if best == portable || better(kernel, kernels.Kernels[best]) {
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
func table(kernel int, rows [][]byte) []byte {
	entry := planes
	if kernel != portable {
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
			made = append(made, entry(rows[i][j])...)
		}
	}
	return made
}

// nibbles returns c * n, then c * (n << 4), for n = 0..15.
func nibbles(c byte) []byte {
	made := make([]byte, 32)
	for n := range made[:16] {
		made[n], made[n+16] = codec.Multiply(c, byte(n)), codec.Multiply(c, byte(n<<4))
	}
	return made
}

// affine returns the matrix of x -> c * x over GF(2), row i in byte 7 - i; bit b of it is bit i of c * 2^b.
func affine(c byte) []byte {
	made := make([]byte, 8)
	for b := 0; b < 8; b++ {
		column := codec.Multiply(c, 1<<b)
		for i := 0; i < 8; i++ {
			made[7-i] |= column >> i & 1 << b
		}
	}
	return made
}

// planes returns c * 2^b for b = 0..7.
func planes(c byte) []byte {
	made := make([]byte, 8)
	for b := range made {
		made[b] = codec.Multiply(c, 1<<b)
	}
	return made
}

// apply runs the passes on bytes [at, end) of the shards. Pointers are stored in arrays on this goroutine's
// stack, which are no larger than necessary: the garbage collector tracks them, and the machine code returns
// before the stack can move.
func (l *linear) apply(sources, targets [][]byte, at, end int) {
	if len(sources) <= few && len(targets) <= few {
		var from, to [few]unsafe.Pointer
		l.steps(sources, targets, from[:], to[:], at, end)
		return
	}
	var from, to [codec.MaxShards]unsafe.Pointer
	l.steps(sources, targets, from[:], to[:], at, end)
}

func (l *linear) steps(sources, targets [][]byte, from, to []unsafe.Pointer, at, end int) {
	step := leastStep
	if whole := stepBytes / l.inputs &^ (leastStep - 1); whole > step {
		step = whole
	}
	for ; at < end; at += step {
		next := min(at+step, end)
		for j, shard := range sources {
			from[j] = unsafe.Pointer(&shard[at])
		}
		for i, shard := range targets {
			to[i] = unsafe.Pointer(&shard[at])
		}
		for n := range l.passes {
			p := &l.passes[n]
			if p.kernel == portable {
				p.run(sources, targets[p.first], at, next)
				continue
			}
			kernels.Run(p.kernel, uintptr(next-at), uintptr(l.inputs), &p.table[0], &from[0], &to[p.first])
		}
	}
}
