module gfsmith/compat

go 1.17

require github.com/klauspost/reedsolomon v1.11.8

require (
	github.com/klauspost/cpuid/v2 v2.1.1 // indirect
	golang.org/x/sys v0.0.0-20220704084225-05e143d24a9e // indirect
)
