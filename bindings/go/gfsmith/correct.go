package gfsmith

import (
	"bytes"

	"gfsmith.example/go/codec"
	"gfsmith.example/go/gfsmith/internal/kernels"
	"gfsmith.example/go/gfsmith/internal/linear"
)

// symbol is the error of one shard at a byte position.
type symbol struct {
	shard int
	value byte
}

// punctured is the code of the present shards in systematic form: parity[i] is the sum over j of rows[i][j] *
// data[j].
type punctured struct {
	rows         [][]byte
	data, parity []int    // indices of the shards with these roles
	columns      [][]byte // of all these shards: their coefficients in the equations of the code
	encode       *linear.Map
	algebraic    *grs // nil for a code that is no generalised Reed-Solomon code
}

// puncture takes as data the first present shards that no others determine; these determine the rest. It returns nil if
// there are none, since all present shards are always 0.
func (e *engine) puncture(present []bool) *punctured {
	p := &punctured{}
	known := make([]*linear.Equation, e.K)
	var dependent [][]byte
	for i, here := range present {
		if !here {
			continue
		}
		a := linear.Equation{Row: e.Generator(i), Shares: make([]byte, len(present))}
		a.Shares[i] = 1
		a.Reduce(known)
		if j := a.Pivot(); j >= 0 {
			a.Scale(codec.Inverse(a.Row[j]))
			known[j] = &a
			p.data = append(p.data, i)
		} else {
			dependent, p.parity = append(dependent, a.Shares), append(p.parity, i)
		}
	}
	if len(p.data) == 0 {
		return nil
	}
	for _, shares := range dependent {
		row := make([]byte, len(p.data))
		for j, shard := range p.data {
			row[j] = shares[shard]
		}
		p.rows = append(p.rows, row)
	}
	p.columns = make([][]byte, len(p.data)+len(p.parity))
	for shard := range p.columns {
		p.columns[shard] = p.column(shard)
	}
	p.encode = e.Map(kernels.Dot, p.rows)
	p.algebraic = newGRS(p.rows)
	return p
}

// column returns the coefficients of a shard in the equations.
func (p *punctured) column(shard int) []byte {
	found := make([]byte, len(p.rows))
	for i, row := range p.rows {
		if shard < len(row) {
			found[i] = row[shard]
		} else if shard-len(row) == i {
			found[i] = 1
		}
	}
	return found
}

// quotient returns e such that e times the column is the syndrome, 0 if there is none.
func quotient(syndrome, column []byte) byte {
	e := byte(0)
	for i, x := range column {
		if x != 0 {
			e = codec.Multiply(syndrome[i], codec.Inverse(x))
			break
		}
	}
	for i, x := range column {
		if syndrome[i] != codec.Multiply(e, x) {
			return 0
		}
	}
	return e
}

// culprits returns the shards each of which alone explains the syndrome.
func (p *punctured) culprits(syndrome []byte) (found []symbol) {
	for shard, column := range p.columns {
		if value := quotient(syndrome, column); value != 0 {
			found = append(found, symbol{shard, value})
		}
	}
	return found
}

// distinguishes returns whether one wrong shard differs from any other one.
func (p *punctured) distinguishes() bool {
	for shard := range p.data {
		if len(p.culprits(p.columns[shard])) != 1 {
			return false
		}
	}
	return true
}

// decode explains a syndrome other than 0; it returns nil if too many shards are wrong.
func (p *punctured) decode(syndrome []byte) []symbol {
	if p.algebraic != nil {
		return p.algebraic.decode(syndrome)
	}
	return p.culprits(syndrome)
}

// Correct works piece by piece, whose syndromes are the sums of its parities and the computed ones.
func (e *engine) Correct(shards [][]byte, present []bool) ([]int, error) {
	missing := 0
	for _, here := range present {
		if !here {
			missing++
		}
	}
	if len(e.Parity) < 2 {
		return nil, codec.ErrUnsupported
	}
	if missing+2 > len(e.Parity) {
		return nil, codec.ErrTooFewShards
	}
	p := e.puncture(present)
	if p == nil || p.algebraic == nil && !p.distinguishes() {
		return nil, codec.ErrUnsupported
	}
	room := e.scratch.Get().(*[]byte)
	defer e.scratch.Put(room)
	counts, length := make([]int, len(shards)+2), len(shards[p.data[0]])
	for at := 0; at < length; at += checkBytes {
		piece := make([][]byte, len(shards))
		for i, shard := range shards {
			if present[i] {
				piece[i] = shard[at:min(at+checkBytes, length)]
			}
		}
		p.correct(piece, *room, counts)
	}
	return counts, nil
}

// syndromes computes those of a piece into room, m rows; it returns nil if all are 0. wrong[b] is 0 exactly if that of
// position b is.
func (p *punctured) syndromes(data, parity [][]byte, room []byte) (rows [][]byte, wrong []byte) {
	length := len(data[0])
	rows = make([][]byte, len(parity))
	for i := range rows {
		rows[i] = room[i*checkBytes:][:length]
	}
	p.encode.Apply(data, rows, 0, length)
	same := true
	for i, row := range rows {
		same = same && bytes.Equal(row, parity[i])
	}
	if same {
		return nil, nil
	}
	wrong = make([]byte, length)
	for i, row := range rows {
		for b, x := range parity[i] {
			row[b] ^= x
			wrong[b] |= row[b]
		}
	}
	return rows, wrong
}

// correct corrects the shards of a piece, and counts its positions. room: memory for the syndromes.
func (p *punctured) correct(shards [][]byte, room []byte, counts []int) {
	intact, uncorrected := &counts[len(shards)], &counts[len(shards)+1]
	roles := append(append([]int(nil), p.data...), p.parity...)
	rows, wrong := p.syndromes(linear.Pick(nil, shards, p.data), linear.Pick(nil, shards, p.parity), room)
	if rows == nil {
		*intact += len(shards[roles[0]])
		return
	}
	syndrome := make([]byte, len(rows))
	for b, differs := range wrong {
		if differs == 0 {
			*intact++
			continue
		}
		for i, row := range rows {
			syndrome[i] = row[b]
		}
		found := p.decode(syndrome)
		for _, one := range found {
			shards[roles[one.shard]][b] ^= one.value
			counts[roles[one.shard]]++
		}
		if len(found) == 0 {
			*uncorrected++
		}
	}
}
