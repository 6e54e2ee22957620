module github.com/klauspost/reedsolomon

go 1.19

require github.com/klauspost/cpuid/v2 v2.1.1

require golang.org/x/sys v0.0.0-20220704084225-05e143d24a9e // indirect
