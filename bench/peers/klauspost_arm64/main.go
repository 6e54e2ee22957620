// Package main makes the linker keep klauspost/reedsolomon's kernels for disassembly; it is never run.
package main

import (
	"os"

	"github.com/klauspost/reedsolomon"
)

func main() {
	encoder, err := reedsolomon.New(10, 4)
	if err == nil {
		err = encoder.Encode(nil)
	}
	if err != nil {
		os.Exit(1)
	}
}
