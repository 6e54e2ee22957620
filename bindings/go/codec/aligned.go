package codec

import "unsafe"

// aligned allocates size bytes at a multiple of 64.
func aligned(size int) []byte {
	block := make([]byte, size+63)
	skip := int(-uintptr(unsafe.Pointer(&block[0])) & 63)
	return block[skip:][:size:size]
}
