// Command gozip writes the zip archive of a Go module: gozip MODULE VERSION FOLDER ZIP.
package main

import (
	"fmt"
	"os"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	if len(os.Args) != 5 {
		fail(fmt.Errorf("usage: gozip MODULE VERSION FOLDER ZIP"))
	}
	out, err := os.Create(os.Args[4])
	if err != nil {
		fail(err)
	}
	if err := zip.CreateFromDir(out, module.Version{Path: os.Args[1], Version: os.Args[2]}, os.Args[3]); err != nil {
		fail(err)
	}
	if err := out.Close(); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "gozip:", err)
	os.Exit(1)
}
