//go:build cgo

package gfsmith

import (
	"testing"

	"gfsmith.example/go/internal/suite"
)

// usable returns the instruction sets of this build that this machine supports.
func usable() []string {
	best := ISA()
	var names []string
	for _, name := range []string{"gfni_avx512", "gfni_avx2", "avx2", "sse", "neon", "scalar"} {
		if SetISA(name) == nil {
			names = append(names, name)
		}
	}
	if err := SetISA(best); err != nil {
		panic(err)
	}
	return names
}

var this = suite.Package{New: New, NewMatrix: NewMatrix, ISAs: usable, SetISA: SetISA, Checksums: true}

func TestSuite(t *testing.T) { suite.Run(t, this) }

func TestKernels(t *testing.T) {
	compared, compiled, err := VerifyKernels()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d functions compared, %d compiled", compared, compiled)
}

func FuzzCodec(f *testing.F) { suite.Fuzz(f, this) }

func TestErrorsHaveNames(t *testing.T) {
	this.Errors(t, ErrShardNoData, ErrShardSize, ErrUnsupported, ErrInvShardNum)
}
