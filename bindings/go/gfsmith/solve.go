package gfsmith

import (
	"sync"

	"gfsmith.example/go/codec"
	"gfsmith.example/go/gfsmith/internal/kernels"
)

// repair expresses wanted shards by some of the present ones.
type repair struct {
	sources, targets []int
	linear           *linear
}

// loss identifies a repair by its present and wanted shards, one bit each.
type loss struct{ present, wanted [4]uint64 }

func bits(flags []bool) (set [4]uint64) {
	for i, flag := range flags {
		if flag {
			set[i/64] |= 1 << (i % 64)
		}
	}
	return set
}

// repairs caches the first maxRepairs repairs.
type repairs struct {
	lock  sync.Mutex
	known map[loss]*repair
}

const maxRepairs = 256

// repairOf returns the repair of a loss, or codec.ErrSingular if there is none.
func (e *engine) repairOf(present, wanted []bool) (*repair, error) {
	name := loss{bits(present), bits(wanted)}
	e.repairs.lock.Lock()
	known := e.repairs.known[name]
	e.repairs.lock.Unlock()
	if known != nil {
		return known, nil
	}
	made, err := e.solve(present, wanted)
	if err != nil {
		return nil, err
	}
	e.repairs.lock.Lock()
	defer e.repairs.lock.Unlock()
	if e.repairs.known == nil {
		e.repairs.known = make(map[loss]*repair)
	}
	if len(e.repairs.known) < maxRepairs {
		e.repairs.known[name] = made
	}
	return made, nil
}

// generator returns row i of the identity above the parity matrix: shard i as a combination of the data.
func (e *engine) generator(i int) []byte {
	k := len(e.rows[0])
	if i >= k {
		return append([]byte(nil), e.rows[i-k]...)
	}
	row := make([]byte, k)
	row[i] = 1
	return row
}

// equation is a known combination of data: row times the data equals shares times the shards.
type equation struct{ row, shares []byte }

// subtract subtracts c times another equation.
func (a equation) subtract(c byte, b equation) {
	for j, x := range b.row {
		a.row[j] ^= codec.Multiply(c, x)
	}
	for i, x := range b.shares {
		a.shares[i] ^= codec.Multiply(c, x)
	}
}

// scale multiplies by c.
func (a equation) scale(c byte) {
	for _, part := range [][]byte{a.row, a.shares} {
		for j, x := range part {
			part[j] = codec.Multiply(c, x)
		}
	}
}

// pivot returns the index of the first non-zero element, -1 if there is none.
func (a equation) pivot() int {
	for j, x := range a.row {
		if x != 0 {
			return j
		}
	}
	return -1
}

// reduce makes a's elements 0 at the pivots of known equations, from left to right.
func (a equation) reduce(known []*equation) {
	for j, b := range known {
		if b != nil && a.row[j] != 0 {
			a.subtract(a.row[j], *b)
		}
	}
}

// solve brings the present shards into echelon form by Gaussian elimination, and reduces the wanted ones to
// zero with it; the subtracted terms are their combination of present shards.
func (e *engine) solve(present, wanted []bool) (*repair, error) {
	total, known := len(present), make([]*equation, len(e.rows[0]))
	for i, here := range present {
		if !here {
			continue
		}
		a := equation{e.generator(i), make([]byte, total)}
		a.shares[i] = 1
		a.reduce(known)
		if j := a.pivot(); j >= 0 {
			a.scale(codec.Inverse(a.row[j]))
			known[j] = &a
		}
	}
	var rows [][]byte
	var targets []int
	for i, want := range wanted {
		if !want {
			continue
		}
		a := equation{e.generator(i), make([]byte, total)}
		a.reduce(known)
		if a.pivot() >= 0 {
			return nil, codec.ErrSingular
		}
		rows, targets = append(rows, a.shares), append(targets, i)
	}
	return e.narrow(rows, targets), nil
}

// narrow keeps the shards with a non-zero coefficient.
func (e *engine) narrow(rows [][]byte, targets []int) *repair {
	found, narrow := &repair{targets: targets}, make([][]byte, len(rows))
	for j := range rows[0] {
		used := false
		for _, row := range rows {
			used = used || row[j] != 0
		}
		if used {
			found.sources = append(found.sources, j)
			for i, row := range rows {
				narrow[i] = append(narrow[i], row[j])
			}
		}
	}
	if len(found.sources) > 0 {
		found.linear = newLinear(e.set, kernels.Dot, narrow)
	}
	return found
}

func (e *engine) Rebuild(shards [][]byte, present, wanted []bool) error {
	found, err := e.repairOf(present, wanted)
	if err != nil {
		return err
	}
	var room [2][few][]byte
	sources, targets := pick(room[0][:0], shards, found.sources), pick(room[1][:0], shards, found.targets)
	if found.linear == nil { // the wanted shards are 0 for all data
		for _, shard := range targets {
			for b := range shard {
				shard[b] = 0
			}
		}
		return nil
	}
	found.linear.apply(sources, targets, 0, len(targets[0]))
	return nil
}

// pick appends the shards with these indices.
func pick(found, shards [][]byte, numbers []int) [][]byte {
	for _, i := range numbers {
		found = append(found, shards[i])
	}
	return found
}
