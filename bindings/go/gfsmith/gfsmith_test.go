package gfsmith

import (
	"testing"

	"gfsmith.example/go/internal/suite"
)

var this = suite.Package{New: New, NewMatrix: NewMatrix, ISAs: usable, SetISA: SetISA}

func TestSuite(t *testing.T) { suite.Run(t, this) }

func TestKernels(t *testing.T) {
	compared, compiled, err := VerifyKernels()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d functions compared, %d compiled", compared, compiled)
}

func FuzzCodec(f *testing.F) { suite.Fuzz(f, this) }

// Calls with any number of shards allocate nothing if the shards have memory.
func TestEncodeAllocatesNothing(t *testing.T) {
	for _, k := range []int{12, 40} {
		c, err := New(Backblaze, k, 4)
		if err != nil {
			t.Fatal(err)
		}
		shards := c.AllocAligned(1000)
		if n := testing.AllocsPerRun(100, func() { _ = c.Encode(shards) }); n != 0 {
			t.Errorf("%d+4: %v allocations a call", k, n)
		}
	}
}

// Codecs use the set named by GFSMITH_ISA or SetISA.
func TestSets(t *testing.T) {
	for _, name := range usable() {
		if err := SetISA(name); err != nil || ISA() != name {
			t.Error(name, ISA(), err)
		}
	}
	if err := SetISA(usable()[0]); err != nil {
		t.Fatal(err)
	}
}

func TestErrorsHaveNames(t *testing.T) {
	this.Errors(t, ErrShardNoData, ErrShardSize, ErrUnsupported, ErrInvShardNum)
}
