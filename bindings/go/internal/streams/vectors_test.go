package streams

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"

	"gfsmith.example/go/codec"
	"gfsmith.example/go/streams"
)

// vector is a case of shard_vectors.json.
type vector struct {
	Code       codec.Code
	K, M, L    int
	Block      int
	Generation int64
	Content    int
	Name       string
	SetID      string `json:"set_id"`
	Length     int
	Original   string
	Shards     []struct{ SHA256 string }
}

func (v vector) set(t *testing.T) streams.Set {
	set := streams.Set{Code: v.Code, K: v.K, M: v.M, L: v.L, Block: v.Block, Content: v.Content,
		Generation: v.Generation, Name: v.Name}
	if n, err := hex.Decode(set.ID[:], []byte(v.SetID)); n != 16 || err != nil {
		t.Fatal(n, err)
	}
	return set
}

func vectors(t *testing.T) (cases []vector) {
	path := os.Getenv("GFSMITH_SHARD_VECTORS")
	if path == "" {
		path = "../../../../tests/oracle/shard_vectors.json"
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("the variable GFSMITH_SHARD_VECTORS must name shard_vectors.json: %v", err)
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) < 50 {
		t.Fatal(len(cases), err)
	}
	return cases
}

// The shards of every vector have the expected bytes, and the original is read back without one shard. The package
// without cgo refuses the code for which it has no formula.
func TestVectors(t *testing.T) {
	for name, coder := range coders {
		for _, v := range vectors(t) {
			t.Run(fmt.Sprintf("%s/%s-%d-%d", name, v.Code, v.K, v.Length), func(t *testing.T) {
				if name == "gfsmith" && v.Code == "cauchy_good" {
					refusesCode(t, coder, v.set(t))
					return
				}
				check(t, coder, v)
			})
		}
	}
}

func check(t *testing.T, coder streams.Streams, v vector) {
	data := make([]byte, v.Length)
	for i := range data {
		data[i] = byte(31*i + 7*(i/256) + 1)
	}
	shards := split(t, coder, data, v.set(t))
	for i, shard := range shards {
		if sum := sha256.Sum256(shard); hex.EncodeToString(sum[:]) != v.Shards[i].SHA256 {
			t.Fatalf("shard %d has other bytes", i)
		}
	}
	report, err := coder.Verify(background, readers(shards))
	if err != nil || !report.Intact() || report.Length != int64(v.Length) || report.Set != v.set(t) {
		t.Fatal(report, err)
	}
	if hex.EncodeToString(report.Checksum[:]) != v.Original {
		t.Fatal("another checksum of the original")
	}
	out, _ := joined(t, coder, readers(shards[1:]))
	same(t, out, data, "joined without shard 0")
	lost := len(shards) - 1
	var rebuilt bytes.Buffer
	if _, err := coder.Repair(background, readers(shards[:lost]), map[int]io.Writer{lost: &rebuilt}); err != nil {
		t.Fatal(err)
	}
	same(t, rebuilt.Bytes(), shards[lost], "rebuilt")
}

func refusesCode(t *testing.T, coder streams.Streams, set streams.Set) {
	writers := make([]io.Writer, set.K+set.M)
	for i := range writers {
		writers[i] = io.Discard
	}
	_, err := coder.Split(background, bytes.NewReader(nil), writers, set)
	is(t, err, codec.ErrUnsupported)
}
