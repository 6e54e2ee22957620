// Package reedsolomon has the interface of github.com/klauspost/reedsolomon 1.14 and computes the same bytes with the
// kernels of gfsmith, whose machine code is proved. It does not use cgo. A line in go.mod selects it:
//
//	replace github.com/klauspost/reedsolomon => .../bindings/go/reedsolomon
//
// The folder internal is generated, by `go generate` in a checkout of gfsmith. docs/migrate/klauspost-replace.md there
// lists the differences.
package reedsolomon

//go:generate gfsmith export --form go -c gfsmith.toml -o internal/kernels
//go:generate go run ./internal/copies ..
