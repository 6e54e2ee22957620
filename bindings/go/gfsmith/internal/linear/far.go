package linear

import (
	"sync"

	"gfsmith.example/go/gfsmith/internal/kernels"
)

const (
	farBytes = 4 << 20  // of all sources: they are probably in memory, not in a cache
	farRows  = 4        // of a matrix that reads its sources as fast as memory delivers them
	fewReads = 14       // number of sources that are read together in any case
	reads    = 10       // number of sources that are read together from memory: more take longer, on Zen 4 up to 1.5 times
	farStep  = 32 << 10 // of each source; the targets stay in the second-level cache for all groups
)

// groups are maps for parts of the sources, for calls on sources in memory. They are made at the first such call.
type groups struct {
	once sync.Once
	maps []*Map
}

// far returns whether the sources, of this length, are divided: they are many and long, and the kernels fast.
func (m *Map) far(length int) bool {
	return m.inputs > fewReads && length >= farBytes/m.inputs && len(m.rows) <= farRows && m.passes[0].kernel != Portable
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
			m.groups.maps = append(m.groups.maps, m.code.Map(operation, rows))
			operation = kernels.Mad
		}
	})
	return m.groups.maps
}

// applyFar is Apply group by group.
func (m *Map) applyFar(sources, targets [][]byte, at, end int) {
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
