//go:build !linux

package dbserver

import "syscall"

// dieWithParent does nothing where the kernel has no such thing: the tests end the server themselves unless they are killed.
func dieWithParent(*syscall.SysProcAttr) {}
