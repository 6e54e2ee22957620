package codec

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// tasksPerWorker is the number of tasks for each goroutine: a slow one leaves its tasks to the others.
const tasksPerWorker = 4

func least(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func most(a, b int) int {
	if a > b {
		return a
	}
	return b
}

// perform calls task for the numbers below `tasks`, in several new goroutines, and returns after all calls. The calling
// goroutine only waits: if it computed as well, the last new goroutine would start some microseconds later, because Go's
// scheduler reserves it for the thread of its creator.
func perform(workers, tasks int, task func(n int) error) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	work := func() {
		defer group.Done()
		for n := int(next.Add(1)) - 1; n < tasks; n = int(next.Add(1)) - 1 {
			if err := task(n); err != nil {
				failed.Store(&err)
			}
		}
	}
	count := least(workers, tasks)
	group.Add(count)
	for i := 0; i < count; i++ {
		go work()
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// before returns the number of units in the first n of `tasks` tasks that share some. A product of units and tasks could
// exceed an int of 32 bits.
func before(units, tasks, n int) int { return units/tasks*n + least(n, units%tasks) }

// shareEqually calls task for ranges that cover `length` bytes, one in each goroutine, and returns after all calls.
// Ranges begin at multiples of `unit` bytes.
func shareEqually(workers, unit, length int, task func(begin, end int) error) error {
	units := (length + unit - 1) / unit
	tasks := least(workers, units)
	return perform(workers, tasks, func(n int) error {
		return task(before(units, tasks, n)*unit, least(before(units, tasks, n+1)*unit, length))
	})
}

// Share calls task for ranges that cover the bytes from begin to end, in several goroutines, and returns after all
// calls. Ranges begin at cache lines of the shard `first`, so that goroutines do not write to common lines.
func Share(workers int, first []byte, begin, end int, task func(begin, end int) error) error {
	start := begin + int(-uintptr(unsafe.Pointer(&first[begin]))&63)
	lines := (end - start) / 64
	tasks := most(least(workers*tasksPerWorker, lines), 1) // lines is 0 or less for the shortest shards
	return perform(workers, tasks, func(n int) error {
		from, to := start+before(lines, tasks, n)*64, start+before(lines, tasks, n+1)*64
		if n == 0 {
			from = begin
		}
		if n == tasks-1 {
			to = end
		}
		return task(from, to)
	})
}
