package linear

import (
	"github.com/klauspost/cpuid/v2"

	"gfsmith.example/go/gfsmith/internal/kernels"
)

// Able returns whether CPU and operating system support a set.
func Able(set kernels.Set) bool {
	for _, feature := range set.Features {
		if !cpuid.CPU.Supports(cpuid.ParseFeature(feature)) {
			return false
		}
	}
	return true
}
