package node

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// hold marks a run's directory as in use for as long as this process lives.
func hold(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// sweep removes directories and control groups of runs that were killed. The kernel has taken the rest.
func sweep() error {
	found, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	if err != nil {
		return err
	}
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return err
	}
	groups := readCgroups(string(mounts))
	for _, dir := range found {
		if _, err := os.Stat(filepath.Join(dir, "lock")); err != nil {
			continue // of a run that is just beginning
		}
		lock, err := hold(dir)
		if err != nil {
			continue // in use
		}
		err = errors.Join(groups.remove(filepath.Base(dir)), os.RemoveAll(dir), lock.Close())
		if err != nil {
			return err
		}
	}
	return nil
}
