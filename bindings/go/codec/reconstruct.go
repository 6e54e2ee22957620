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
	if err := c.flagged(required); err != nil {
		return err
	}
	return c.reconstruct(shards, func(i int) bool { return i < len(required) && required[i] })
}

// flagged returns nil if there is a flag for each shard, or for each data shard.
func (c *Codec) flagged(required []bool) error {
	if len(required) == c.k {
		return nil
	}
	return counted("required", len(required), c.k+c.m)
}

func (c *Codec) reconstruct(shards [][]byte, required func(int) bool) error {
	asked, err := c.lost(shards, required)
	if err != nil || asked.repairs == 0 {
		return err
	}
	var few [32][]byte // usually sufficient, and on the stack
	old := append(few[:0], shards...)
	c.allocate(shards, asked)
	ReadRange(old)
	err = c.engine.Rebuild(shards, asked.present, asked.wanted)
	if err != nil {
		copy(shards, old)
	}
	return err
}

// loss is a repair: the length of the shards, which are present and which are to be rebuilt, and the number of these.
type loss struct {
	length          int
	present, wanted []bool
	repairs         int
}

// lost returns the repair of the required ones of the missing shards.
func (c *Codec) lost(shards [][]byte, required func(int) bool) (asked loss, err error) {
	if err := counted("shards", len(shards), c.k+c.m); err != nil {
		return asked, err
	}
	if asked.length, err = size(shards, true); err != nil {
		return asked, err
	}
	flags := make([]bool, 2*len(shards))
	asked.present, asked.wanted = flags[:len(shards)], flags[len(shards):]
	missing := 0
	for i, shard := range shards {
		if asked.present[i] = len(shard) != 0; !asked.present[i] {
			missing++
			if asked.wanted[i] = required(i); asked.wanted[i] {
				asked.repairs++
			}
		}
	}
	if asked.repairs == 0 {
		return asked, nil
	}
	return asked, c.repairable(missing)
}

// repairable returns nil if there are as many parities as missing shards.
func (c *Codec) repairable(missing int) error {
	if missing > c.m {
		return fmt.Errorf("%w: %d are missing; allowed: at most %d", ErrTooFewShards, missing, c.m)
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

// allocate gives memory to the shards that are to be rebuilt.
func (c *Codec) allocate(shards [][]byte, asked loss) {
	for i, want := range asked.wanted {
		if want {
			shards[i] = room(shards[i], asked.length)
			WriteRange(shards[i : i+1])
		}
	}
}
