package browser

import (
	"fmt"
	"os"
	"syscall"
)

// nobody is the user and group that a browser started by root runs as: Chromium refuses root its sandbox.
const nobody = 65534

// Protection is what the kernel keeps a browser from, beyond the flags that every browser gets.
type Protection struct {
	// Sandbox is Chromium's own: its renderers see no files, no processes and few system calls.
	Sandbox bool
	// NoNetwork is a network namespace with nothing in it.
	NoNetwork bool
}

// protections are tried in this order. A renderer that was taken over is held by the sandbox; the network is shut off by
// flags as well, so the sandbox comes first.
var protections = []Protection{
	{Sandbox: true, NoNetwork: true},
	{Sandbox: true},
	{NoNetwork: true},
	{},
}

// String is for the log.
func (p Protection) String() string {
	return fmt.Sprintf("sandbox=%t network_namespace=%t user=%d", p.Sandbox, p.NoNetwork, browserUser())
}

// browserUser is who browsers run as.
func browserUser() int {
	if uid := os.Geteuid(); uid != 0 {
		return uid
	}
	return nobody
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
