package codec

import "unsafe"

// Aligned allocates size bytes at a multiple of 64.
func Aligned(size int) []byte {
	block := make([]byte, size+63)
	skip := int(-uintptr(unsafe.Pointer(&block[0])) & 63)
	return block[skip:][:size:size]
}
