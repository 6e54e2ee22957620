// Command copies writes copies of packages of gfsmith.example/go, whose folder is the argument, into the folder internal:
// a `replace` line cannot add a second module, so this one is complete.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sources are the copied files: patterns in that module, and the folders of the copies.
var sources = []struct{ pattern, folder string }{
	{"codec/aligned.go", "codec"},
	{"codec/field.go", "codec"},
	{"codec/share.go", "codec"},
	{"codec/*race.go", "codec"},
	{"gfsmith/internal/linear/*.go", "linear"},
}

// rename changes the paths in imports.
var rename = strings.NewReplacer(
	`"gfsmith.example/go/gfsmith/internal/`, `"github.com/klauspost/reedsolomon/internal/`,
	`"gfsmith.example/go/`, `"github.com/klauspost/reedsolomon/internal/`,
)

func main() {
	if err := copies(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func copies(module string) error {
	for _, source := range sources {
		paths, err := filepath.Glob(filepath.Join(module, source.pattern))
		if err != nil || len(paths) == 0 {
			return fmt.Errorf("no file %s: %w", source.pattern, os.ErrNotExist)
		}
		for _, path := range paths {
			if err := write(path, filepath.Join("internal", source.folder, filepath.Base(path))); err != nil {
				return err
			}
		}
	}
	return nil
}

// write copies a file, unless the copy is up to date.
func write(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	made := "// Code copied by internal/copies. DO NOT EDIT.\n\n" + rename.Replace(string(text))
	if old, err := os.ReadFile(to); err == nil && bytes.Equal(old, []byte(made)) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(to+".new", []byte(made), 0o666); err != nil {
		return err
	}
	return os.Rename(to+".new", to)
}
