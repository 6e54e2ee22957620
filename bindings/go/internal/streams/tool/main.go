// Command tool splits, verifies, joins and repairs files with package streams, for tests with the other languages.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gfsmith.example/go/codec"
	"gfsmith.example/go/gfsmith"
	"gfsmith.example/go/streams"
)

var coder = streams.Streams{New: gfsmith.New, NewMatrix: gfsmith.NewMatrix}

func readers(paths []string) (made []io.Reader, err error) {
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		made = append(made, file)
	}
	return made, nil
}

// split writes shards NAME.g1.NNN.gfs to a folder.
func split(ctx context.Context, code, shape, block, path, folder string) error {
	set := streams.Set{Code: codec.Code(code), Name: filepath.Base(path)}
	if _, err := fmt.Sscanf(shape+" "+block, "%d+%d %d", &set.K, &set.M, &set.Block); err != nil {
		return err
	}
	if set.Code == streams.Lrc {
		set.L = 2
	}
	original, err := os.Open(path)
	if err != nil {
		return err
	}
	var shards []io.Writer
	for i := 0; i < set.K+set.M; i++ {
		file, err := os.Create(filepath.Join(folder, fmt.Sprintf("%s.g1.%03d.gfs", set.Name, i)))
		if err != nil {
			return err
		}
		shards = append(shards, file)
	}
	_, err = coder.Split(ctx, original, shards, set)
	return err
}

func verify(ctx context.Context, paths []string) error {
	shards, err := readers(paths)
	if err != nil {
		return err
	}
	report, err := coder.Verify(ctx, shards)
	if err == nil && !report.Intact() {
		err = fmt.Errorf("damaged: %+v", report.Shards)
	}
	return err
}

func join(ctx context.Context, path string, paths []string) error {
	shards, err := readers(paths)
	if err != nil {
		return err
	}
	original, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = coder.Join(ctx, shards, original)
	return err
}

func repair(ctx context.Context, path, index string, paths []string) error {
	shards, err := readers(paths)
	if err != nil {
		return err
	}
	var i int
	if _, err := fmt.Sscan(index, &i); err != nil {
		return err
	}
	rebuilt, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = coder.Repair(ctx, shards, map[int]io.Writer{i: rebuilt})
	return err
}

func run(ctx context.Context, command string, arguments []string) error {
	switch {
	case command == "split" && len(arguments) == 5:
		return split(ctx, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4])
	case command == "verify":
		return verify(ctx, arguments)
	case command == "join" && len(arguments) > 1:
		return join(ctx, arguments[0], arguments[1:])
	case command == "repair" && len(arguments) > 2:
		return repair(ctx, arguments[0], arguments[1], arguments[2:])
	}
	return fmt.Errorf("split CODE K+M BLOCK FILE FOLDER | verify SHARDS | join FILE SHARDS | repair SHARD INDEX SHARDS")
}

func main() {
	if len(os.Args) < 2 {
		os.Args = append(os.Args, "")
	}
	if err := run(context.Background(), os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
