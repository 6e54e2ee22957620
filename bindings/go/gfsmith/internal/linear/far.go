package linear

import (
	"sync"

	"gfsmith.example/go/gfsmith/internal/kernels"
)

const (
	farBytes = 8 << 20  // of all shards of a call: they are probably in memory, or in a cache that cores share
	farShare = 4 << 20  // the same for streaming stores of a call that several goroutines share
	farRows  = 4        // of a matrix that reads its sources as fast as memory delivers them
	fewReads = 14       // number of sources that are read together in any case
	reads    = 10       // number of sources that are read together from memory: more take longer, on Zen 4 up to 1.5 times
	farStep  = 32 << 10 // of each source; the targets stay in the second-level cache for all groups
)

// isFar returns whether calls with shards of this length are far: streaming stores pay, and reading few sources at once.
func (m *Map) isFar(length int) bool { return length >= farBytes/(m.inputs+len(m.rows)) }

// streams returns whether streaming stores pay for a number of bytes of shards of this length. Other goroutines process
// the rest: two of them fill the cache that cores share sooner.
func (m *Map) streams(part, length int) bool {
	return m.isFar(length) || part < length && length >= farShare/(m.inputs+len(m.rows))
}

// streaming finds the kernel that computes the same as another one from the same table with streaming stores; the other
// one if there is none. Only kernels for a fixed number of sources have one.
func streaming(kernel int) int {
	if kernel == Portable || kernels.Kernels[kernel].Inputs == 0 {
		return kernel
	}
	wanted := kernels.Kernels[kernel]
	wanted.Streaming = true
	for n, found := range kernels.Kernels {
		if wanted.Symbol = found.Symbol; found.Streaming && found == wanted {
			return n
		}
	}
	return kernel
}

// kernelFor returns the kernel with streaming stores or the one without.
func (p *pass) kernelFor(streams bool) int {
	if streams {
		return p.streaming
	}
	return p.kernel
}

// groups are maps for parts of the sources, for calls on sources in memory. They are made at the first such call.
type groups struct {
	once sync.Once
	maps []*Map
}

// grouped returns whether far calls divide the sources: they are many, and the kernels fast. A kernel with streaming stores
// reads them together.
func (m *Map) grouped() bool {
	p := &m.passes[0]
	return m.inputs > fewReads && len(m.rows) <= farRows && p.kernel != Portable && p.streaming == p.kernel
}

// divided returns the groups: the first writes the targets, the others add to them.
func (m *Map) divided() []*Map {
	m.groups.once.Do(func() {
		count := (m.inputs + reads - 1) / reads
		operation := m.operation
		for n := 0; n < count; n++ {
			first, end := m.inputs*n/count, m.inputs*(n+1)/count
			rows := make([][]byte, len(m.rows))
			for i, row := range m.rows {
				rows[i] = row[first:end]
			}
			group := m.code.Map(operation, rows)
			for p := range group.passes {
				group.passes[p].streaming = group.passes[p].kernel // the next group reads the targets
			}
			m.groups.maps = append(m.groups.maps, group)
			operation = kernels.Mad
		}
	})
	return m.groups.maps
}

// applyGroups is Apply group by group.
func (m *Map) applyGroups(sources, targets [][]byte, at, end int) {
	for ; at < end; at += farStep {
		next := at + farStep
		if next > end {
			next = end
		}
		rest := sources
		for _, group := range m.divided() {
			group.Apply(rest[:group.inputs], targets, at, next)
			rest = rest[group.inputs:]
		}
	}
}
