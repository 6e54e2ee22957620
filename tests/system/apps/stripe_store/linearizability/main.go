// linearizability reads a history of a key-value store, a JSON object per line, and checks each key with
// porcupine. It prints the keys without a linearization.
//
// Exit status: 0 all keys are linearizable; 1 some are not; 2 the history cannot be read; 3 the time is over.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

func read(from io.Reader) (map[string][]operation, error) {
	keys := map[string][]operation{}
	lines := json.NewDecoder(bufio.NewReader(from))
	for {
		var o operation
		err := lines.Decode(&o)
		if errors.Is(err, io.EOF) {
			return keys, nil
		}
		if err != nil {
			return nil, err
		}
		keys[o.Key] = append(keys[o.Key], o)
	}
}

func main() {
	limit := flag.Duration("limit", time.Minute, "time for each key")
	flag.Parse()
	keys, err := read(os.Stdin)
	if err != nil {
		fmt.Fprintf(os.Stderr, "linearizability: the history is not JSON objects: %v\n", err)
		os.Exit(2)
	}
	names := make([]string, 0, len(keys))
	for key := range keys {
		names = append(names, key)
	}
	sort.Strings(names)
	status := 0
	for _, key := range names {
		switch porcupine.CheckOperationsTimeout(model, intervals(keys[key]), *limit) {
		case porcupine.Illegal:
			fmt.Printf("%s: not linearizable\n", key)
			status = 1
		case porcupine.Unknown:
			fmt.Printf("%s: undecided after %v\n", key, *limit)
			if status == 0 {
				status = 3
			}
		}
	}
	os.Exit(status)
}
