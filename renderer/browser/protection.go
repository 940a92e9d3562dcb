package browser

import (
	"fmt"
	"os"
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
