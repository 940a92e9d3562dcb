//go:build unix && !linux

package main

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// rssUnit is the unit of rusage's peak, in bytes.
const rssUnit = 1
