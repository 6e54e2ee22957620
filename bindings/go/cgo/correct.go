package gfsmith

/*
#include <stdlib.h>
#include "bridge.h"
*/
import "C"

import "unsafe"

// Correct has C write the numbers to C's memory, because a structure with a pointer to Go memory cannot be passed.
func (e *engine) Correct(shards [][]byte, present []bool) ([]int, error) {
	numbers := len(shards) + 2
	written := (*C.size_t)(C.calloc(C.size_t(numbers), C.sizeof_size_t))
	defer C.free(unsafe.Pointer(written))
	asked := job{operation: C.GFS_GO_CORRECT, counts: written, present: present}
	if err := failure(e.run(asked, shards[:e.k], shards[e.k:])); err != nil {
		return nil, err
	}
	counts := make([]int, numbers)
	for n, count := range unsafe.Slice(written, numbers) {
		counts[n] = int(count)
	}
	return counts, nil
}
