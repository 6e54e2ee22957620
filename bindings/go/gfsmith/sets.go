package gfsmith

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"gfsmith.example/go/codec"
	"gfsmith.example/go/gfsmith/internal/kernels"
	"gfsmith.example/go/gfsmith/internal/linear"
)

// scalar is the name of the kernel in Go, like that of the portable kernel in C.
const scalar = "scalar"

var (
	selected int32 // an index of kernels.Sets, linear.Portable for the kernel in Go
	first    sync.Once
)

// chosen returns the set of codecs created now.
func chosen() int32 {
	first.Do(func() {
		atomic.StoreInt32(&selected, linear.Portable)
		for n, set := range kernels.Sets {
			if linear.Able(set) {
				atomic.StoreInt32(&selected, int32(n))
				break
			}
		}
		if name := os.Getenv("GFSMITH_ISA"); name != "" {
			if err := choice(name); err != nil {
				fmt.Fprintln(os.Stderr, "GFSMITH_ISA ignored:", err)
			}
		}
	})
	return atomic.LoadInt32(&selected)
}

func choice(name string) error {
	if name == scalar {
		atomic.StoreInt32(&selected, linear.Portable)
		return nil
	}
	for n, set := range kernels.Sets {
		if set.Name == name && linear.Able(set) {
			atomic.StoreInt32(&selected, int32(n))
			return nil
		}
	}
	return fmt.Errorf("%w: instruction set %q; allowed: %v", codec.ErrUnsupported, name, usable())
}

// usable returns the instruction sets of this build that this machine supports, best first.
func usable() []string {
	var names []string
	for _, set := range kernels.Sets {
		if linear.Able(set) {
			names = append(names, set.Name)
		}
	}
	return append(names, scalar)
}

// VerifyKernels compares the kernels in this program with the digests of the proved machine code. It returns the number
// of kernels that are equal and the number of those that a compiler translated, which have no digest: the one in Go.
// The error names the first kernel that differs.
func VerifyKernels() (compared, compiled int, err error) {
	compared, different := kernels.Verify()
	if different != "" {
		err = fmt.Errorf("gfsmith: %s: its machine code is not the proved one", different)
	}
	return compared, 1, err
}

// ISA returns the instruction set of codecs created from now on: the last choice of SetISA; before that the one
// that the environment variable GFSMITH_ISA names, else the best.
func ISA() string {
	if set := chosen(); set != linear.Portable {
		return kernels.Sets[set].Name
	}
	return scalar
}

// SetISA chooses the instruction set of codecs created from now on; existing codecs keep theirs.
func SetISA(name string) error {
	chosen()
	return choice(name)
}
