package linear

import (
	"testing"

	"gfsmith.example/go/gfsmith/internal/kernels"
)

// rowsOf returns a matrix for a kernel: its known one, or another.
func rowsOf(kernel kernels.Kernel) [][]byte {
	if kernel.Matrix >= 0 {
		return kernels.Matrices[kernel.Matrix].Rows[kernel.First:][:kernel.Outputs]
	}
	rows := make([][]byte, kernel.Outputs)
	for i := range rows {
		rows[i] = make([]byte, kernel.Inputs)
		for j := range rows[i] {
			rows[i][j] = byte(i + j)
		}
	}
	return rows
}

// Each kernel with streaming stores runs in far calls that are not divided, and only there.
func TestStreamingKernelsRunInFarCalls(t *testing.T) {
	for n, kernel := range kernels.Kernels {
		if !kernel.Streaming {
			continue
		}
		code := Code{Set: kernel.Set, K: kernel.Inputs}
		m := code.Map(kernel.Operation, rowsOf(kernel))
		p := &m.passes[0]
		if m.grouped() || p.kernelFor(true) != n {
			t.Error(kernel.Symbol, "is not used")
		}
		if kernels.Kernels[p.kernelFor(false)].Streaming {
			t.Error(kernel.Symbol, "is used for shards in a cache")
		}
		length := farBytes / (kernel.Inputs + kernel.Outputs)
		if m.isFar(length-1) || !m.isFar(length) {
			t.Error(kernel.Symbol, "has another limit")
		}
		if m.streams(length-1, length-1) || !m.streams(length, length) {
			t.Error(kernel.Symbol, "streams in other calls of one goroutine")
		}
		shared := farShare / (kernel.Inputs + kernel.Outputs)
		if m.streams(64, shared-1) || !m.streams(64, shared) || m.streams(shared, shared) {
			t.Error(kernel.Symbol, "streams in other calls of several goroutines")
		}
	}
}

// The first group of a divided call leaves the targets in a cache, where the next one reads them.
func TestGroupsDoNotStream(t *testing.T) {
	for set := range kernels.Sets {
		for k := fewReads + 1; k <= 3*reads; k++ {
			code := Code{Set: set, K: k}
			m := code.Map(kernels.Dot, rowsOf(kernels.Kernel{Inputs: k, Outputs: farRows, Matrix: -1}))
			for _, group := range m.divided() {
				if p := &group.passes[0]; p.kernelFor(true) != p.kernel {
					t.Error(kernels.Sets[set].Name, k)
				}
			}
		}
	}
}
