package gfsmith

import (
	"testing"

	"gfsmith.example/go/internal/suite"
)

var this = suite.Package{New: New, NewMatrix: NewMatrix, ISAs: ISAs, SetISA: SetISA}

func TestSuite(t *testing.T) { suite.Run(t, this) }
