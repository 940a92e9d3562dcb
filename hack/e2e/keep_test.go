//go:build e2e && keep && linux

package e2e

import (
	"fmt"
	"testing"
)

// TestKeepANode installs Boardwalk on a node with a chain, says how to reach it, and keeps it until it is interrupted: `make e2e-keep`.
func TestKeepANode(t *testing.T) {
	c := newCluster(t)
	for _, s := range scenario {
		if c.run(t, s.name, s.do); s.name == servesAnswers {
			break
		}
	}
	shell, err := c.Shell()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf(`
The node is up, with a chain and Boardwalk in the namespace %[2]s. As root:

  %[1]s                                      a shell with kubectl and helm
  %[1]s kubectl -n %[2]s get chains,pods
  %[1]s helm -n %[2]s list
  %[1]s sh -c 'curl http://$(kubectl -n %[2]s get service %[3]s -o jsonpath={.spec.clusterIP})/api/status/heartbeat'

Ctrl-C takes it down.
`, shell, namespace, apiService)
	<-c.ctx.Done()
}
