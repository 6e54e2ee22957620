package linear

import (
	"gfsmith.example/go/codec"
	"gfsmith.example/go/gfsmith/internal/kernels"
)

// Repair expresses lost shards by some of the present ones.
type Repair struct {
	Sources, Targets []int
	Rows             [][]byte // the coefficients: of each target, those of all sources
	Map              *Map     // nil if the targets are 0 for all data
}

// Generator returns row i of the identity above the parity matrix: shard i as a combination of the data.
func (c *Code) Generator(i int) []byte {
	if i >= c.K {
		return append([]byte(nil), c.Parity[i-c.K]...)
	}
	row := make([]byte, c.K)
	row[i] = 1
	return row
}

// Equation is a known combination of data: Row times the data equals Shares times the shards.
type Equation struct{ Row, Shares []byte }

// subtract subtracts c times another equation.
func (a Equation) subtract(c byte, b Equation) {
	for j, x := range b.Row {
		a.Row[j] ^= codec.Multiply(c, x)
	}
	for i, x := range b.Shares {
		a.Shares[i] ^= codec.Multiply(c, x)
	}
}

// Scale multiplies by c.
func (a Equation) Scale(c byte) {
	for _, part := range [][]byte{a.Row, a.Shares} {
		for j, x := range part {
			part[j] = codec.Multiply(c, x)
		}
	}
}

// Pivot returns the index of the first non-zero element, -1 if there is none.
func (a Equation) Pivot() int {
	for j, x := range a.Row {
		if x != 0 {
			return j
		}
	}
	return -1
}

// Reduce makes a's elements 0 at the pivots of known equations, from left to right.
func (a Equation) Reduce(known []*Equation) {
	for j, b := range known {
		if b != nil && a.Row[j] != 0 {
			a.subtract(a.Row[j], *b)
		}
	}
}

// Solve brings the present shards into echelon form by Gaussian elimination, and reduces the wanted ones to zero with
// it; the subtracted terms are their combination of present shards. It returns nil if the loss cannot be repaired.
func (c *Code) Solve(loss Loss) *Repair {
	total, found := c.K+len(c.Parity), make([]*Equation, c.K)
	for i := 0; i < total; i++ {
		if !loss.Present.Has(i) {
			continue
		}
		a := Equation{c.Generator(i), make([]byte, total)}
		a.Shares[i] = 1
		a.Reduce(found)
		if j := a.Pivot(); j >= 0 {
			a.Scale(codec.Inverse(a.Row[j]))
			found[j] = &a
		}
	}
	var rows [][]byte
	var targets []int
	for i := 0; i < total; i++ {
		if !loss.Wanted.Has(i) {
			continue
		}
		a := Equation{c.Generator(i), make([]byte, total)}
		a.Reduce(found)
		if a.Pivot() >= 0 {
			return nil
		}
		rows, targets = append(rows, a.Shares), append(targets, i)
	}
	return c.narrow(rows, targets)
}

// narrow keeps the shards with a non-zero coefficient.
func (c *Code) narrow(rows [][]byte, targets []int) *Repair {
	found := &Repair{Targets: targets, Rows: make([][]byte, len(rows))}
	for j := range rows[0] {
		used := false
		for _, row := range rows {
			used = used || row[j] != 0
		}
		if used {
			found.Sources = append(found.Sources, j)
			for i, row := range rows {
				found.Rows[i] = append(found.Rows[i], row[j])
			}
		}
	}
	if len(found.Sources) > 0 {
		found.Map = c.Map(kernels.Dot, found.Rows)
	}
	return found
}

// Run rebuilds the targets, which have their length.
func (r *Repair) Run(shards [][]byte) {
	var room [2][Few][]byte
	sources, targets := Pick(room[0][:0], shards, r.Sources), Pick(room[1][:0], shards, r.Targets)
	if r.Map != nil {
		r.Map.Apply(sources, targets, 0, len(targets[0]))
		return
	}
	for _, shard := range targets {
		for b := range shard {
			shard[b] = 0
		}
	}
}

// Pick appends the shards with these indices.
func Pick(found, shards [][]byte, numbers []int) [][]byte {
	for _, i := range numbers {
		found = append(found, shards[i])
	}
	return found
}
