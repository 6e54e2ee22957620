package reedsolomon

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/reedsolomon/internal/codec"
)

// leopard16Encoder is the Leopard code over GF(2^16). The points of the code are the elements in the order of their numbers in
// Cantor's basis. They are divided into blocks of n = ceilPow2(parityShards): block 0 has the parity shards, the following
// ones the data shards. The rest of the points are 0 in the last block, and in block 0 never known.
type leopard16Encoder struct {
	unsupported
	dataShards, parityShards, totalShards int

	block int // n
	o     options
	work  WorkAllocator
}

// chunk16 is the number of bytes of each shard that are transformed at once.
const chunk16 = 4 << 10

func newLeopard16(k, m int, o options) *leopard16Encoder {
	field16()
	l := &leopard16Encoder{dataShards: k, parityShards: m, totalShards: k + m, block: ceilPow2(m), o: o, work: o.workAlloc}
	if l.work == nil {
		l.work = &workPool{}
	}
	return l
}

// workPool is the default WorkAllocator: a pool of buffers of chunk16 bytes.
type workPool struct{ pool sync.Pool }

func (w *workPool) Get(n, size int) [][]byte {
	if found, ok := w.pool.Get().(*[][]byte); ok && len(*found) >= n {
		return (*found)[:n]
	}
	return AllocAligned(n, chunk16)
}

func (w *workPool) Put(work [][]byte) { w.pool.Put(&work) }

// buffers returns n buffers of size bytes, zeroed, and the function that returns them to the allocator.
func (l *leopard16Encoder) buffers(n, size int) (made [][]byte, put func(), err error) {
	work := l.work.Get(n, size)
	put = func() { l.work.Put(work) }
	if len(work) < n {
		put()
		return nil, nil, fmt.Errorf("%w: WorkAllocator returned %d buffers, need %d", ErrInvalidInput, len(work), n)
	}
	made = make([][]byte, n)
	for i := range made {
		if len(work[i]) < size {
			put()
			return nil, nil, fmt.Errorf("%w: WorkAllocator buffer %d has %d bytes, need %d", ErrInvalidInput, i, len(work[i]), size)
		}
		made[i] = work[i][:size]
		zero(made[i])
	}
	return made, put, nil
}

func zero(buffer []byte) {
	for i := range buffer {
		buffer[i] = 0
	}
}

func xor(out, in []byte) {
	for i, x := range in {
		out[i] ^= x
	}
}

// skew returns the constant of the butterflies between points first to first + d - 1 and the following d points: the
// value at point `first` of the polynomial that is 0 at points 0 to d - 1 and 1 at point d. In Cantor's basis it shifts
// the number of the point.
func skew(first, d int) uint16 { return uint16(first / d) }

// transform computes the values at consecutive points from coefficients in the basis of Lin, Chung and Han. first: the
// number of the first point. Their number is a power of two.
func transform(work [][]byte, first int) {
	for d := len(work) / 2; d > 0; d /= 2 {
		for at := 0; at < len(work); at += 2 * d {
			constant := skew(first+at, d)
			products := productsOf(constant)
			for i := at; i < at+d; i++ {
				if constant != 0 {
					products.add(work[i+d], work[i])
				}
				xor(work[i+d], work[i])
			}
		}
	}
}

// inverse computes the coefficients from the values.
func inverse(work [][]byte, first int) {
	for d := 1; d < len(work); d *= 2 {
		for at := 0; at < len(work); at += 2 * d {
			constant := skew(first+at, d)
			products := productsOf(constant)
			for i := at; i < at+d; i++ {
				xor(work[i+d], work[i])
				if constant != 0 {
					products.add(work[i+d], work[i])
				}
			}
		}
	}
}

// productsOf returns nil for 0.
func productsOf(constant uint16) *products16 {
	if constant == 0 {
		return nil
	}
	return newProducts16(constant)
}

// derive computes the coefficients of the derivative.
func derive(work [][]byte) {
	for i := 1; i < len(work); i++ {
		width := i & -i
		for j := i - width; j < i; j++ {
			xor(work[j], work[j+width])
		}
	}
}

// chunks calls a function for parts of the bytes from 0 to size, in several goroutines if they are many.
func (l *leopard16Encoder) chunks(size int, with func(begin, end int) error) error {
	workers := runtime.GOMAXPROCS(0)
	if l.o.maxGoroutines < workers {
		workers = l.o.maxGoroutines
	}
	parts := (size + chunk16 - 1) / chunk16
	if parts < workers {
		workers = parts
	}
	var next, failed = make(chan int, parts), make(chan error, workers)
	for begin := 0; begin < size; begin += chunk16 {
		next <- begin
	}
	close(next)
	for n := 0; n < workers; n++ {
		go func() {
			var first error
			for begin := range next {
				end := begin + chunk16
				if end > size {
					end = size
				}
				if err := with(begin, end); err != nil {
					first = err
				}
			}
			failed <- first
		}()
	}
	var first error
	for n := 0; n < workers; n++ {
		if err := <-failed; err != nil {
			first = err
		}
	}
	return first
}

func (l *leopard16Encoder) checkShards(shards [][]byte, missing bool) (int, error) {
	if len(shards) != l.totalShards {
		return 0, ErrTooFewShards
	}
	size, err := checkShards(shards, missing)
	if err == nil && size%leopardMultiple != 0 {
		err = ErrInvalidShardSize
	}
	return size, err
}

// Encode implements Encoder.
func (l *leopard16Encoder) Encode(shards [][]byte) error {
	size, err := l.checkShards(shards, false)
	if err != nil {
		return err
	}
	codec.ReadRange(shards[:l.dataShards])
	codec.WriteRange(shards[l.dataShards:])
	return l.encode(shards[:l.dataShards], shards[l.dataShards:], size)
}

// encode computes the parity shards: the values in block 0 of the sum of the polynomials that the blocks of data
// determine.
func (l *leopard16Encoder) encode(data, parity [][]byte, size int) error {
	return l.chunks(size, func(begin, end int) error {
		work, put, err := l.buffers(2*l.block, end-begin)
		if err != nil {
			return err
		}
		defer put()
		sum, part := work[:l.block], work[l.block:]
		for first := 0; first < len(data); first += l.block {
			for i := range part {
				if first+i < len(data) {
					copy(part[i], data[first+i][begin:end])
				} else {
					zero(part[i])
				}
			}
			inverse(part, l.block+first)
			for i := range sum {
				xor(sum[i], part[i])
			}
		}
		transform(sum, 0)
		for i, shard := range parity {
			copy(shard[begin:end], sum[i])
		}
		return nil
	})
}

// Verify implements Encoder.
func (l *leopard16Encoder) Verify(shards [][]byte) (bool, error) {
	size, err := l.checkShards(shards, false)
	if err != nil {
		return false, err
	}
	codec.ReadRange(shards)
	computed := AllocAligned(l.parityShards, size)
	if err := l.encode(shards[:l.dataShards], computed, size); err != nil {
		return false, err
	}
	for i, parity := range computed {
		if !bytes.Equal(parity, shards[l.dataShards+i]) {
			return false, nil
		}
	}
	return true, nil
}

// point returns the number of the point of a shard.
func (l *leopard16Encoder) point(shard int) int {
	if shard < l.dataShards {
		return l.block + shard
	}
	return shard - l.dataShards
}

// locator returns the logarithms of the locator's values: of the product of the differences of each of n points to all
// unknown ones but itself. A sum over differences of numbers is a convolution, which the transform of Walsh and Hadamard
// computes modulo 2^16 - 1.
func locator(unknown []bool) []int {
	const modulus = 1<<16 - 1
	n := len(unknown)
	found, logs := make([]int, n), make([]int, n)
	for i := range found {
		if unknown[i] {
			found[i] = 1
		}
		logs[i] = int(field16().logarithm[i])
	}
	walsh := func(a []int) {
		for d := 1; d < n; d *= 2 {
			for at := 0; at < n; at += 2 * d {
				for i := at; i < at+d; i++ {
					a[i], a[i+d] = (a[i]+a[i+d])%modulus, (a[i]-a[i+d]+modulus)%modulus
				}
			}
		}
	}
	walsh(found)
	walsh(logs)
	for i := range found {
		found[i] = found[i] * logs[i] % modulus
	}
	walsh(found)
	for i := range found { // a division by n, as 2^16 is 1
		found[i] = found[i] * (maxLeopardShards / n) % modulus
	}
	return found
}

// Reconstruct implements Encoder.
func (l *leopard16Encoder) Reconstruct(shards [][]byte) error {
	return l.reconstruct(shards, l.totalShards)
}

// ReconstructData implements Encoder.
func (l *leopard16Encoder) ReconstructData(shards [][]byte) error {
	return l.reconstruct(shards, l.dataShards)
}

// ReconstructSome rebuilds all shards if there is a flag for each of them, else the data shards, as the original does.
func (l *leopard16Encoder) ReconstructSome(shards [][]byte, required []bool) error {
	if len(required) == l.totalShards {
		return l.Reconstruct(shards)
	}
	return l.ReconstructData(shards)
}

// reconstruct rebuilds the missing ones of the first `most` shards.
func (l *leopard16Encoder) reconstruct(shards [][]byte, most int) error {
	size, err := l.checkShards(shards, true)
	if err != nil && err != ErrInvalidShardSize {
		return err
	}
	old, present := append([][]byte(nil), shards...), 0
	var wanted []int
	for i, shard := range shards {
		if len(shard) != 0 {
			present++
		} else if i < most {
			wanted = append(wanted, i)
		}
	}
	switch {
	case len(wanted) == 0:
		return nil
	case present < l.dataShards:
		return ErrTooFewShards
	case err != nil:
		return err
	}
	for _, i := range wanted {
		if cap(shards[i]) >= size {
			shards[i] = shards[i][:size]
		} else {
			shards[i] = codec.Aligned(size)
		}
		codec.WriteRange(shards[i : i+1])
	}
	codec.ReadRange(old)
	err = l.rebuild(old, shards, wanted, size)
	if err != nil {
		copy(shards, old)
	}
	return err
}

// rebuild multiplies the polynomial of the code by the locator L of the unknown points, which makes these points known:
// 0. At a root the derivative of the product p * L is p * L'.
func (l *leopard16Encoder) rebuild(present, shards [][]byte, wanted []int, size int) error {
	n := ceilPow2(l.block + l.dataShards)
	unknown := make([]bool, n)
	for i := 0; i < l.block; i++ {
		unknown[i] = true
	}
	for i, shard := range present {
		unknown[l.point(i)] = len(shard) == 0
	}
	logs, field := locator(unknown), field16()
	return l.chunks(size, func(begin, end int) error {
		work, put, err := l.buffers(n, end-begin)
		if err != nil {
			return err
		}
		defer put()
		for i, shard := range present {
			if point := l.point(i); len(shard) != 0 {
				newProducts16(field.exponent[logs[point]]).add(shard[begin:end], work[point])
			}
		}
		inverse(work, 0)
		derive(work)
		transform(work, 0)
		for _, i := range wanted {
			point, out := l.point(i), shards[i][begin:end]
			zero(out)
			newProducts16(field.exponent[1<<16-1-logs[point]]).add(work[point], out)
		}
		return nil
	})
}

// ShardSizeMultiple returns 64.
func (l *leopard16Encoder) ShardSizeMultiple() int { return leopardMultiple }

// DataShards returns the number of data shards.
func (l *leopard16Encoder) DataShards() int { return l.dataShards }

// ParityShards returns the number of parity shards.
func (l *leopard16Encoder) ParityShards() int { return l.parityShards }

// TotalShards returns the number of all shards.
func (l *leopard16Encoder) TotalShards() int { return l.totalShards }

// AllocAligned is AllocAligned for all shards.
func (l *leopard16Encoder) AllocAligned(each int) [][]byte { return AllocAligned(l.totalShards, each) }

// Split implements Encoder.
func (l *leopard16Encoder) Split(data []byte) ([][]byte, error) {
	return leopardSplit(data, l.dataShards, l.totalShards)
}

// Join implements Encoder.
func (l *leopard16Encoder) Join(dst io.Writer, shards [][]byte, outSize int) error {
	return join(dst, shards, l.dataShards, outSize)
}
