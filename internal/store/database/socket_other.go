//go:build !linux

package database

import "time"

// setUserTimeout does nothing where the kernel has no such option.
func setUserTimeout(uintptr, time.Duration) {}
