//go:build e2e && !linux

package e2e

import "testing"

func TestBoardwalkOnARealNode(t *testing.T) {
	t.Fatal("a Kubernetes node needs Linux: run this in a virtual machine with Debian 12 or newer")
}
