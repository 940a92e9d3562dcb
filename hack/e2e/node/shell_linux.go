package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Shell writes a script that runs its arguments, or a shell without any, in the node's network as the cluster's administrator, with kubectl and helm on
// PATH. It needs root, and gives the script's path.
func (n *Node) Shell() (string, error) {
	home, bin := filepath.Join(n.dir, "tmp"), filepath.Join(n.dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return "", err
	}
	for _, tool := range []string{"kubectl", "helm"} {
		if err := os.Symlink(n.tools[tool], filepath.Join(bin, tool)); err != nil {
			return "", err
		}
	}
	script := strings.Join([]string{
		"#!/bin/sh",
		fmt.Sprintf("export KUBECONFIG=%s HOME=%s PATH=%s:$PATH", n.admin, home, bin),
		fmt.Sprintf(`exec nsenter --target=%d --net -- "${@:-%s}"`, n.sandbox.init.Process.Pid, "sh"),
		"",
	}, "\n")
	path := filepath.Join(n.dir, "shell")
	return path, os.WriteFile(path, []byte(script), 0o700)
}
