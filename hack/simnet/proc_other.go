//go:build !linux

package simnet

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }
