//go:build cgo

package klauspost

import (
	"github.com/klauspost/reedsolomon"

	gfsmith "gfsmith.example/go/cgo"
	"gfsmith.example/go/codec"
)

func init() {
	peers = append(peers, peer{"cgo", func() (reedsolomon.Encoder, error) { return gfsmith.New(codec.Backblaze, k, m) }})
	ours["cgo"] = gfsmith.New
}
