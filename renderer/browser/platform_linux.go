package browser

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// checkPlatform says why no browser can be run on this operating system, or nil.
func checkPlatform() error { return nil }

// adopt makes this program the parent of what its children leave behind, so that it can be ended and reaped here. It
// changes the program as a whole.
func adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("browser: become the parent of orphans: %w", err)
	}
	return nil
}

// attributes are those of the browser's process. It leads a process group, by which its descendants are known when it is
// gone, and dies with this program.
func (p Protection) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 {
		a.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	if !p.NoNetwork {
		return a
	}
	a.Cloneflags = syscall.CLONE_NEWNET
	if uid != 0 {
		// Only a user namespace gives others the right to make one of the network. In it the user stays who it is, so
		// that nothing is gained by having been its root.
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	}
	return a
}
