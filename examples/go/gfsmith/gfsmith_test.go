package gfsmith

import (
	"testing"

	"gfsmith.example/go/internal/suite"
)

var this = suite.Package{New: New, NewMatrix: NewMatrix, ISAs: usable, SetISA: SetISA}

func TestSuite(t *testing.T) { suite.Run(t, this) }
