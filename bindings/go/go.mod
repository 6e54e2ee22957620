module gfsmith.example/go

go 1.19

require (
	github.com/klauspost/cpuid/v2 v2.1.1
	github.com/klauspost/reedsolomon v1.11.8
	github.com/zeebo/xxh3 v1.0.2
)

require golang.org/x/sys v0.0.0-20220704084225-05e143d24a9e // indirect
