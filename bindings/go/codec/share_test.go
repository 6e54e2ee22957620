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

// A wrong number of parities is not taken for the right one because the product of stripes and parities is no int.
func TestProductIsGreatestInt(t *testing.T) {
	const high = math.MaxInt/2 + 1
	for _, c := range [][3]int{{0, 5, 0}, {3, 5, 15}, {high / 64, 127, high / 64 * 127}, {high / 64, 128, math.MaxInt}, {high, 4, math.MaxInt}} {
		if got := product(c[0], c[1]); got != c[2] {
			t.Fatalf("product(%d, %d) = %d", c[0], c[1], got)
		}
	}
}
