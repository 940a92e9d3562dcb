//go:build !linux

package browser

import "syscall"

// checkPlatform says why no browser can be run on this operating system: what keeps a browser from the network and ends its
// processes is Linux's.
func checkPlatform() error { return ErrPlatform }

func adopt() error { return ErrPlatform }

func (p Protection) attributes() *syscall.SysProcAttr { return nil }
