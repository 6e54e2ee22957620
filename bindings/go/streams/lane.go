package streams

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
)

// indexed is a reader with the index of its shard.
type indexed struct {
	io.Reader
	index int
}

// WithIndex returns the reader of a shard with its index, which is used if the shard's header is damaged.
func WithIndex(reader io.Reader, index int) io.Reader { return indexed{reader, index} }

var fileName = regexp.MustCompile(`\.g\d+\.(\d{3})\.gfs$`)

// indexOf returns the reader without its index, and the index, -1 if it is unknown.
func indexOf(reader io.Reader) (io.Reader, int) {
	if with, is := reader.(indexed); is {
		return with.Reader, with.index
	}
	if file, is := reader.(interface{ Name() string }); is {
		if found := fileName.FindStringSubmatch(file.Name()); found != nil {
			index, _ := strconv.Atoi(found[1]) // three digits
			return reader, index
		}
	}
	return reader, -1
}

// lane is the stream of one shard.
type lane struct {
	from       io.Reader // nil: there is no stream
	source     int       // position of the reader, -1
	tag        uint64
	buffer     *bufio.Reader // nil: the stream is not read
	window     []byte        // of the stream, from the current record on
	good       int           // bytes of the current record's block if it is good, else 0
	ended      bool          // the stream has no bytes after the buffer
	unreadable bool
	tooLong    bool
	headerBad  bool
	end        *trailer // a good trailer
	badBlocks  int64
	own        []byte // a rebuilt record
}

// stop records the end of the stream.
func (l *lane) stop(err error) {
	if err != nil {
		l.ended = true
		l.unreadable = l.unreadable || err != io.EOF
	}
}

// activate starts reading at a record.
func (l *lane) activate(set Set, stripe int64) {
	skip := stripe * int64(prefix+set.Block)
	if skip > 0 && !l.ended {
		seeker, is := l.from.(io.Seeker)
		if is {
			_, err := seeker.Seek(skip, io.SeekCurrent)
			is = err == nil
		}
		if !is {
			_, err := io.CopyN(io.Discard, l.from, skip)
			l.stop(err)
		}
	}
	size := prefix + set.Block + ending + 1
	if size < bufferBytes {
		size = bufferBytes
	}
	l.buffer = bufio.NewReaderSize(l.from, size)
}

// peek reads until the window has this many bytes, if the stream has them.
func (l *lane) peek(size int) {
	if most := l.buffer.Buffered(); l.ended && size > most {
		size = most
	}
	var err error
	l.window, err = l.buffer.Peek(size)
	l.stop(err)
}

// endAt returns whether the window has a good trailer with this number at a place.
func (l *lane) endAt(set Set, at int, number int64) bool {
	if len(l.window) < at {
		return false
	}
	end := readTrailer(set, l.window[at:], l.tag)
	if end == nil || end.stripes != number {
		return false
	}
	l.peek(at + ending + 1)
	l.end, l.tooLong, l.ended = end, len(l.window) > at+ending, true
	return true
}

// read moves to the record of a stripe, which is the next one, and checks it.
func (l *lane) read(set Set, stripe int64) {
	pitch := prefix + set.Block
	if used := len(l.window); used > pitch {
		_, _ = l.buffer.Discard(pitch) // the window is in the buffer
	} else {
		_, _ = l.buffer.Discard(used)
	}
	l.window, l.good = nil, 0
	if l.end != nil {
		return
	}
	if l.peek(pitch + ending); l.endAt(set, 0, stripe) {
		return
	}
	size := content(l.window, l.tag, stripe, blockKind, set.Block)
	if l.good = size; size == 0 {
		size = set.Block
	}
	if l.endAt(set, prefix+size, stripe+1) {
		return
	}
	// If the last block is damaged, its length is unknown: the trailer is at the end of the stream.
	if have := len(l.window); l.ended && have == l.buffer.Buffered() && have >= ending {
		l.end = readTrailer(set, l.window[have-ending:], l.tag)
	}
}
