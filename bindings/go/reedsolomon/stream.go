package reedsolomon

import (
	"fmt"
	"io"
	"sync"
)

// StreamReadError is an error of a stream that was read.
type StreamReadError struct {
	Err    error // the error of the stream
	Stream int   // its number
}

// Error returns the number of the stream and its error.
func (s StreamReadError) Error() string {
	return fmt.Sprintf("error reading stream %d: %s", s.Stream, s.Err)
}

// String returns the same as Error.
func (s StreamReadError) String() string { return s.Error() }

// StreamWriteError is an error of a stream that was written.
type StreamWriteError struct {
	Err    error // the error of the stream
	Stream int   // its number
}

// Error returns the number of the stream and its error.
func (s StreamWriteError) Error() string {
	return fmt.Sprintf("error writing stream %d: %s", s.Stream, s.Err)
}

// String returns the same as Error.
func (s StreamWriteError) String() string { return s.Error() }

const streamBlock = 4 << 20

// streams is the StreamEncoder.
type streams struct {
	r      *reedSolomon
	block  int
	blocks sync.Pool // *[][]byte: memory for a block of each shard
}

// NewStream creates a StreamEncoder with up to 256 shards. Leopard codes have none: ErrNotSupported.
func NewStream(dataShards, parityShards int, o ...Option) (StreamEncoder, error) {
	if dataShards > maxShards || parityShards > maxShards || dataShards+parityShards > maxShards {
		return nil, ErrMaxShardNum
	}
	encoder, err := New(dataShards, parityShards, o...)
	if err != nil {
		return nil, err
	}
	r, classic := encoder.(*reedSolomon)
	if !classic {
		return nil, ErrNotSupported
	}
	s := &streams{r: r, block: streamBlock}
	if r.o.streamBlock > 0 {
		s.block = r.o.streamBlock
	} else if r.o.shardSize > 0 {
		s.block = r.o.shardSize
	}
	s.blocks.New = func() any {
		made := AllocAligned(r.totalShards, s.block)
		return &made
	}
	return s, nil
}

// NewStreamC is NewStream with WithConcurrentStreamReads and WithConcurrentStreamWrites.
func NewStreamC(dataShards, parityShards int, conReads, conWrites bool, o ...Option) (StreamEncoder, error) {
	concurrent := []Option{WithConcurrentStreamReads(conReads), WithConcurrentStreamWrites(conWrites)}
	return NewStream(dataShards, parityShards, append(o[:len(o):len(o)], concurrent...)...)
}

// each calls a function for each of n streams, at the same time if wanted. It returns the error of the first stream
// that has one.
func each(n int, concurrent bool, call func(i int) error) error {
	if !concurrent {
		for i := 0; i < n; i++ {
			if err := call(i); err != nil {
				return err
			}
		}
		return nil
	}
	failed := make([]error, n)
	var group sync.WaitGroup
	group.Add(n)
	for i := range failed {
		go func(i int) {
			defer group.Done()
			failed[i] = call(i)
		}(i)
	}
	group.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// read fills a block of each stream; that of a stream that is nil becomes empty. It returns the length of the block, 0
// at the end of all streams.
func (s *streams) read(block [][]byte, in []io.Reader) (int, error) {
	err := each(len(in), s.r.o.concReads, func(i int) error {
		if in[i] == nil {
			block[i] = block[i][:0]
			return nil
		}
		n, err := io.ReadFull(in[i], block[i])
		block[i] = block[i][:n]
		if err == nil || err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		return StreamReadError{err, i}
	})
	if err != nil {
		return 0, err
	}
	size := shardSize(block)
	for i, stream := range in {
		if stream != nil && len(block[i]) != size {
			return 0, ErrShardSize
		}
	}
	return size, nil
}

// write writes a block to each stream that is not nil.
func (s *streams) write(out []io.Writer, block [][]byte) error {
	return each(len(out), s.r.o.concWrites, func(i int) error {
		if out[i] == nil {
			return nil
		}
		n, err := out[i].Write(block[i])
		if err == nil && n != len(block[i]) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return StreamWriteError{err, i}
		}
		return nil
	})
}

// blockwise reads the first streams block by block and calls a function for each block, in which the rest of the shards
// have the same length.
func (s *streams) blockwise(in []io.Reader, with func(block [][]byte) error) error {
	room := s.blocks.Get().(*[][]byte)
	defer s.blocks.Put(room)
	block := make([][]byte, len(*room))
	for read := false; ; read = true {
		for i, memory := range *room {
			block[i] = memory[:s.block]
		}
		size, err := s.read(block[:len(in)], in)
		if err != nil {
			return err
		}
		if size == 0 {
			if !read {
				return ErrShardNoData
			}
			return nil
		}
		for i := len(in); i < len(block); i++ {
			block[i] = block[i][:size]
		}
		if err := with(block); err != nil {
			return err
		}
	}
}

// Encode implements StreamEncoder.
func (s *streams) Encode(data []io.Reader, parity []io.Writer) error {
	if len(data) != s.r.dataShards || len(parity) != s.r.parityShards {
		return ErrTooFewShards
	}
	return s.blockwise(data, func(block [][]byte) error {
		if err := s.r.Encode(block); err != nil {
			return err
		}
		return s.write(parity, block[s.r.dataShards:])
	})
}

// Verify implements StreamEncoder.
func (s *streams) Verify(shards []io.Reader) (bool, error) {
	if len(shards) != s.r.totalShards {
		return false, ErrTooFewShards
	}
	same := true
	err := s.blockwise(shards, func(block [][]byte) (err error) {
		if same, err = s.r.Verify(block); err == nil && !same {
			err = io.EOF
		}
		return err
	})
	if err == io.EOF {
		err = nil
	}
	return same && err == nil, err
}

// Reconstruct implements StreamEncoder.
func (s *streams) Reconstruct(valid []io.Reader, fill []io.Writer) error {
	if len(valid) != s.r.totalShards || len(fill) != s.r.totalShards {
		return ErrTooFewShards
	}
	required := make([]bool, s.r.totalShards)
	for i := range valid {
		if valid[i] != nil && fill[i] != nil {
			return ErrReconstructMismatch
		}
		required[i] = fill[i] != nil
	}
	return s.blockwise(valid, func(block [][]byte) error {
		if err := s.r.ReconstructSome(block, required); err != nil {
			return err
		}
		return s.write(fill, block)
	})
}

// Join implements StreamEncoder.
func (s *streams) Join(dst io.Writer, shards []io.Reader, outSize int64) error {
	if len(shards) < s.r.dataShards {
		return ErrTooFewShards
	}
	for i, shard := range shards[:s.r.dataShards] {
		if shard == nil {
			return StreamReadError{ErrShardNoData, i}
		}
	}
	n, err := io.CopyN(dst, io.MultiReader(shards[:s.r.dataShards]...), outSize)
	if err == io.EOF || err == nil && n != outSize {
		return ErrShortData
	}
	return err
}

// zeros is a stream of zeros without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0
	}
	return len(p), nil
}

// Split implements StreamEncoder.
func (s *streams) Split(data io.Reader, dst []io.Writer, size int64) error {
	if size <= 0 {
		return ErrShortData
	}
	if len(dst) != s.r.dataShards {
		return ErrInvShardNum
	}
	for i, out := range dst {
		if out == nil {
			return StreamWriteError{ErrShardNoData, i}
		}
	}
	k := int64(s.r.dataShards)
	each := (size + k - 1) / k
	source := &io.LimitedReader{R: data, N: size}
	padded := io.MultiReader(source, io.LimitReader(zeros{}, k*each-size))
	for _, out := range dst {
		if _, err := io.CopyN(out, padded, each); err == io.EOF {
			return ErrShortData
		} else if err != nil {
			return err
		}
	}
	return nil
}
