package linear

import (
	"sync"
	"sync/atomic"
)

// Set is a set of shards: one bit for each index from 0 to 255.
type Set [4]uint64

// Add adds a shard.
func (s *Set) Add(i int) { s[i/64&3] |= 1 << (i % 64) }

// Has returns whether the set contains a shard.
func (s *Set) Has(i int) bool { return s[i/64&3]>>(i%64)&1 != 0 }

// Loss identifies a repair.
type Loss struct{ Present, Wanted Set }

// solved is a repair with its loss.
type solved struct {
	loss   Loss
	repair *Repair
}

// Repairs are the repairs of one code. It keeps the first maxRepairs, and finds the last one without a lock, since
// the stripes of a broken machine miss the same shards. Several goroutines may use it at once.
type Repairs struct {
	last atomic.Pointer[solved]
	lock sync.Mutex
	all  map[Loss]*Repair
}

const maxRepairs = 256

// Of returns the repair of a loss, or nil if there is none.
func (r *Repairs) Of(c *Code, loss Loss) *Repair {
	if last := r.last.Load(); last != nil && last.loss == loss {
		return last.repair
	}
	r.lock.Lock()
	found := r.all[loss]
	r.lock.Unlock()
	if found == nil {
		if found = c.Solve(loss); found == nil {
			return nil
		}
		r.keep(loss, found)
	}
	r.last.Store(&solved{loss, found})
	return found
}

func (r *Repairs) keep(loss Loss, made *Repair) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.all == nil {
		r.all = make(map[Loss]*Repair)
	}
	if len(r.all) < maxRepairs {
		r.all[loss] = made
	}
}
