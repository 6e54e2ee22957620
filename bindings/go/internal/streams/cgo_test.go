//go:build cgo

package streams

import (
	gfsmith "gfsmith.example/go/cgo"
	"gfsmith.example/go/streams"
)

func init() {
	coders["cgo"] = streams.Streams{New: gfsmith.New, NewMatrix: gfsmith.NewMatrix}
}
