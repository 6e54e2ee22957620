package codec

import (
	"math"
	"testing"
)

// Tasks cover all units, one after the other, and differ by one unit at most: also with the most units, whose product
// with the number of tasks is no int.
func TestTasksCoverAllUnits(t *testing.T) {
	for _, units := range []int{1, 7, 64, 1000, math.MaxInt - 1, math.MaxInt} {
		for _, tasks := range []int{1, 2, 7, 1000} {
			if before(units, tasks, 0) != 0 || before(units, tasks, tasks) != units {
				t.Fatalf("%d tasks do not cover %d units", tasks, units)
			}
			for n := 0; n < tasks; n++ {
				has := before(units, tasks, n+1) - before(units, tasks, n)
				if has != units/tasks && has != units/tasks+1 {
					t.Fatalf("task %d of %d has %d of %d units", n, tasks, has, units)
				}
			}
		}
	}
}
