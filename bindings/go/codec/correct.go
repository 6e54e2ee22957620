package codec

// Corrected has numbers of byte positions.
type Corrected struct {
	Symbols     []int // for each of the k + m shards, the positions at which it was corrected
	Intact      int   // positions at which the parities match the data
	Uncorrected int   // positions that could not be corrected and did not change
}

// Correct finds and corrects wrong symbols in place, byte position by byte position: the wrong shards may differ from
// position to position. Missing shards (nil or empty) are ignored. With r spare shards, m less the missing ones, up to
// r / 2 wrong symbols of a position are corrected if the code is a generalised Reed-Solomon code, as all codes but
// Vandermonde, PlankVandermonde and RaidZ are, otherwise one. More wrong symbols are detected or, if the position
// resembles another valid stripe, corrected to that.
//
// Errors: ErrTooFewShards if r is less than 2, ErrUnsupported if the code cannot tell shards apart, as with one parity.
func (c *Codec) Correct(shards [][]byte) (Corrected, error) {
	if err := counted("shards", len(shards), c.k+c.m); err != nil {
		return Corrected{}, err
	}
	if _, err := size(shards, true); err != nil {
		return Corrected{}, err
	}
	present := make([]bool, len(shards))
	for i, shard := range shards {
		present[i] = len(shard) != 0
	}
	WriteRange(shards)
	counts, err := c.engine.Correct(shards, present)
	if err != nil {
		return Corrected{}, err
	}
	n := len(shards)
	return Corrected{counts[:n], counts[n], counts[n+1]}, nil
}
