// Package frames calls kernels with much stack from goroutines whose stacks end at every distance below the call.
package frames

import (
	"bytes"
	"flag"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
	"unsafe"
)

const (
	length = 130  // two vectors of AVX-512 and a part of one
	stack  = 8192 // bytes; the smallest stack of a goroutine and the next one are covered
	most   = 16   // calls of offset, whose frames differ from those of down, so that together they reach every depth
)

var profile = flag.String("profile", "", "file for the profile of TestProfile")

// call is one kernel with sources, wanted parities and room for parities, all on the heap.
type call struct {
	number   int
	src, dst []unsafe.Pointer
	want     [][]byte
	room     [][]byte
}

func product(a, b byte) (p byte) {
	for ; b != 0; b >>= 1 {
		if b&1 != 0 {
			p ^= a
		}
		if a&0x80 != 0 {
			a = a<<1 ^ 0x1d
		} else {
			a <<= 1
		}
	}
	return p
}

func prepare(number int) *call {
	c, kernel := &call{number: number}, Kernels[number]
	rows := Matrices[kernel.Matrix].Rows[kernel.First:][:kernel.Outputs]
	for range rows {
		room := make([]byte, length)
		c.want = append(c.want, make([]byte, length))
		c.room = append(c.room, room)
		c.dst = append(c.dst, unsafe.Pointer(&room[0]))
	}
	for j := 0; j < kernel.Inputs; j++ {
		source := make([]byte, length)
		for b := range source {
			source[b] = byte(b*b + 7*j + 1)
			for i, row := range rows {
				c.want[i][b] ^= product(row[j], source[b])
			}
		}
		c.src = append(c.src, unsafe.Pointer(&source[0]))
	}
	return c
}

func (c *call) run() {
	Run(c.number, length, uintptr(len(c.src)), nil, &c.src[0], &c.dst[0])
}

// right clears the results of the last call.
func (c *call) right() bool {
	for i := range c.want {
		if !bytes.Equal(c.want[i], c.room[i]) {
			return false
		}
		for b := range c.room[i] {
			c.room[i][b] = 0
		}
	}
	return true
}

// down calls the kernel n frames deeper. Values in all frames must survive the call and the growth of the stack.
//
//go:noinline
func down(c *call, n int, value *int) bool {
	own := n
	if n == 0 {
		c.run()
		return c.right()
	}
	return down(c, n-1, &own) && own == n && *value == n+1
}

// offset moves the frames of down by steps that are not multiples of their size.
//
//go:noinline
func offset(c *call, moves, n int, value *int) (good bool) {
	if moves == 0 {
		return down(c, n, value)
	}
	var own [4]int
	own[moves%4] = moves
	good = offset(c, moves-1, n, value)
	return good && own[moves%4] == moves
}

func usable(t *testing.T) []int {
	var found []int
	if runtime.GOARCH == "arm64" { // every such CPU has all of the sets
		for number := range Kernels {
			found = append(found, number)
		}
		return found
	}
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, word := range strings.Fields(string(info)) {
		has[word] = true
	}
	for number, kernel := range Kernels {
		all := true
		for _, feature := range Sets[kernel.Set].Features {
			all = all && has[strings.ToLower(feature)]
		}
		if all {
			found = append(found, number)
		}
	}
	return found
}

// signals starts a profile with ten times as many signals as usual. The runtime prints that it ignores pprof's rate.
func signals(t *testing.T, profile io.Writer) {
	runtime.SetCPUProfileRate(1000)
	if err := pprof.StartCPUProfile(profile); err != nil {
		t.Fatal(err)
	}
}

// Every kernel at every depth of a new goroutine's stack, while the collector runs and a profiler sends signals.
func TestEveryDepth(t *testing.T) {
	done := make(chan bool)
	go func() {
		for {
			select {
			case <-done:
				return
			default:
				runtime.GC()
			}
		}
	}()
	defer close(done)
	signals(t, io.Discard)
	defer pprof.StopCPUProfile()
	for _, number := range usable(t) {
		c := prepare(number)
		for moves := 0; moves < most; moves++ {
			for n := 0; n < stack/64; n++ {
				good := make(chan bool)
				go func() {
					above := n + 1
					good <- offset(c, moves, n, &above)
				}()
				if !<-good {
					t.Fatalf("%s: wrong result at depth %d+%d", Kernels[number].Symbol, moves, n)
				}
			}
		}
	}
}

// Writes a profile of the kernels, whose samples name the callers.
func TestProfile(t *testing.T) {
	file, err := os.Create(*profile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	signals(t, file)
	defer pprof.StopCPUProfile()
	for _, number := range usable(t) {
		c := prepare(number)
		for start := time.Now(); time.Since(start) < 40*time.Millisecond; {
			for n := 0; n < 100; n++ {
				c.run()
			}
		}
		if !c.right() {
			t.Fatal(Kernels[number].Symbol)
		}
	}
}
