//go:build !linux

package anvil

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }
