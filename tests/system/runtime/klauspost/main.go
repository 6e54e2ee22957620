// Package main is the Leopard codes of klauspost/reedsolomon behind a pipe. For each line "code k m len" of the standard
// input, k * len bytes of data follow, and the answer is m * len bytes of parity.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/reedsolomon"
)

var options = map[string]reedsolomon.Option{
	"leopard16": reedsolomon.WithLeopardGF16(true),
	"leopard8":  reedsolomon.WithLeopardGF(true),
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		var code string
		var k, m, size int
		if _, err := fmt.Fscanf(in, "%s %d %d %d\n", &code, &k, &m, &size); err != nil {
			break
		}
		encoder, err := reedsolomon.New(k, m, options[code])
		check(err)
		shards := make([][]byte, k+m)
		for i := range shards {
			shards[i] = make([]byte, size)
			if i < k {
				_, err := io.ReadFull(in, shards[i])
				check(err)
			}
		}
		check(encoder.Encode(shards))
		for _, parity := range shards[k:] {
			_, err := out.Write(parity)
			check(err)
		}
		check(out.Flush())
	}
}
