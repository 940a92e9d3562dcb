// Command hello is a small program for the tests of hack/images.
package main

import "os"

var commit, built string

func main() {
	_, _ = os.Stdout.WriteString(commit + " " + built + "\n")
}
