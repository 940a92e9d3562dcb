// Command broken is the first program of an image for the end-to-end test in which everything works but the indexer, as a release with a defect might be.
package main

import (
	"fmt"
	"os"
	"syscall"
)

// whole is the program of the image that this one was added to.
const whole = "/boardwalk"

func main() {
	if len(os.Args) > 1 && os.Args[1] == "indexer" {
		fmt.Fprintln(os.Stderr, "panic: this indexer is broken, for a test")
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, syscall.Exec(whole, append([]string{whole}, os.Args[1:]...), os.Environ()))
	os.Exit(1)
}
