// Command compat answers the requests of tests/oracle/peers.py with klauspost/reedsolomon, the coder of
// MinIO: parities of given data, or shards with the missing ones rebuilt. An argument names one of its Leopard codes.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"log"
	"os"
	"strings"

	"github.com/klauspost/reedsolomon"
)

var options = map[string][]reedsolomon.Option{
	"":          nil,
	"leopard16": {reedsolomon.WithLeopardGF16(true)},
	"leopard8":  {reedsolomon.WithLeopardGF(true)},
}

type header struct{ Repair, K, M, Length uint32 }

func read(in io.Reader, count, length uint32) [][]byte {
	shards := make([][]byte, count)
	for i := range shards {
		shards[i] = make([]byte, length)
		check(readFull(in, shards[i]))
	}
	return shards
}

func readFull(in io.Reader, buffer []byte) error {
	_, err := io.ReadFull(in, buffer)
	return err
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func answer(in io.Reader, h header, code string) [][]byte {
	coder, err := reedsolomon.New(int(h.K), int(h.M), options[code]...)
	check(err)
	if h.Repair == 0 {
		shards := append(read(in, h.K, h.Length), read(new(zeros), h.M, h.Length)...)
		check(coder.Encode(shards))
		return shards[h.K:]
	}
	present := make([]byte, h.K+h.M)
	check(readFull(in, present))
	shards := read(in, h.K+h.M, h.Length)
	for i, is := range present {
		if is == 0 {
			shards[i] = nil
		}
	}
	check(coder.Reconstruct(shards))
	return shards
}

type zeros struct{}

func (*zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0
	}
	return len(p), nil
}

func main() {
	code := strings.Join(os.Args[1:], " ")
	if _, known := options[code]; !known {
		log.Fatalf("%s: allowed: leopard8, leopard16", code)
	}
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		var h header
		err := binary.Read(in, binary.LittleEndian, &h)
		if errors.Is(err, io.EOF) {
			break
		}
		check(err)
		for _, shard := range answer(in, h, code) {
			_, err := out.Write(shard)
			check(err)
		}
	}
	check(out.Flush())
}
