package codec

import "fmt"

// Reconstruct rebuilds the missing shards (nil or empty), data and parities alike. An empty one with sufficient
// capacity is rebuilt in place. A call that fails leaves the shards unchanged.
func (c *Codec) Reconstruct(shards [][]byte) error {
	return c.reconstruct(shards, func(int) bool { return true })
}

// ReconstructData rebuilds the missing data shards only.
func (c *Codec) ReconstructData(shards [][]byte) error {
	return c.reconstruct(shards, func(i int) bool { return i < c.k })
}

// ReconstructSome rebuilds the required ones of the missing shards. required: k + m flags, or k for the data
// shards only.
func (c *Codec) ReconstructSome(shards [][]byte, required []bool) error {
	if len(required) != c.k {
		if err := counted("required", len(required), c.k+c.m); err != nil {
			return err
		}
	}
	return c.reconstruct(shards, func(i int) bool { return i < len(required) && required[i] })
}

func (c *Codec) reconstruct(shards [][]byte, required func(int) bool) error {
	if err := counted("shards", len(shards), c.k+c.m); err != nil {
		return err
	}
	length, err := size(shards, true)
	if err != nil {
		return err
	}
	flags := make([]bool, 2*len(shards))
	present, wanted := flags[:len(shards)], flags[len(shards):]
	missing, repairs := 0, 0
	for i, shard := range shards {
		if present[i] = len(shard) != 0; !present[i] {
			missing++
			if wanted[i] = required(i); wanted[i] {
				repairs++
			}
		}
	}
	if repairs == 0 {
		return nil
	}
	if err := c.repairable(missing); err != nil {
		return err
	}
	return c.rebuild(shards, length, present, wanted)
}

// repairable returns nil if there are as many parities as missing shards.
func (c *Codec) repairable(missing int) error {
	if missing > c.m {
		return fmt.Errorf("%w: %d are missing; allowed: %d", ErrTooFewShards, missing, c.m)
	}
	return nil
}

// room returns memory for a missing shard: its capacity if that is sufficient.
func room(shard []byte, length int) []byte {
	if cap(shard) >= length {
		return shard[:length]
	}
	return make([]byte, length)
}

func (c *Codec) rebuild(shards [][]byte, length int, present, wanted []bool) error {
	var few [32][]byte // usually sufficient, and on the stack
	old := append(few[:0], shards...)
	for i, want := range wanted {
		if !want {
			continue
		}
		shards[i] = room(shards[i], length)
		WriteRange(shards[i : i+1])
	}
	ReadRange(old)
	err := c.engine.Rebuild(shards, present, wanted)
	if err != nil {
		copy(shards, old)
	}
	return err
}
