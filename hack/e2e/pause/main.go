//go:build unix

// Command pause does nothing until it is told to end, and buries the dead meanwhile. It is the first process of each pod,
// which holds the pod's namespaces, and of the test's node.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for {
		bury()
		if s := <-signals; s != syscall.SIGCHLD {
			return
		}
	}
}

// bury takes note of every process that ended and that nobody else waits for.
func bury() {
	for {
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.EINTR && (err != nil || pid <= 0) {
			return
		}
	}
}
