// Command example splits an object into 12 data and 4 parity shards, loses four of them and restores the object. It uses
// klauspost/reedsolomon only, and prints the same with the original and with gfsmith's replacement.
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"log"

	"github.com/klauspost/reedsolomon"
)

const (
	dataShards   = 12
	parityShards = 4
)

func main() {
	object := make([]byte, 1_000_003)
	for i := range object {
		object[i] = byte(i * i >> 3)
	}
	if err := run(object); err != nil {
		log.Fatal(err)
	}
}

func run(object []byte) error {
	encoder, err := reedsolomon.New(dataShards, parityShards)
	if err != nil {
		return err
	}
	shards, err := encoder.Split(object)
	if err != nil {
		return err
	}
	if err := encoder.Encode(shards); err != nil {
		return err
	}
	fmt.Printf("%d shards of %d bytes, digest %x\n", len(shards), len(shards[0]), digest(shards))

	for _, lost := range []int{0, 5, 11, 13} {
		shards[lost] = nil
	}
	if err := encoder.Reconstruct(shards); err != nil {
		return err
	}
	var restored bytes.Buffer
	if err := encoder.Join(&restored, shards, len(object)); err != nil {
		return err
	}
	fmt.Printf("four shards reconstructed, digest %x\n", digest(shards))
	fmt.Println("the object is restored:", bytes.Equal(restored.Bytes(), object))
	return nil
}

func digest(shards [][]byte) []byte {
	sum := sha256.New()
	for _, shard := range shards {
		sum.Write(shard)
	}
	return sum.Sum(nil)[:8]
}
