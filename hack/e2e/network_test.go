//go:build e2e && linux

package e2e

import (
	"fmt"
	"strings"
)

// scraper is a namespace of the kind that Prometheus runs in.
const scraper = "scraper"

// testNetwork looks at what pods that aren't Boardwalk's can reach. That Boardwalk's own reach what they need is what all other
// steps show: the policies hold for them too.
func (s step) testNetwork() {
	if err := s.Apply(s.ctx, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+scraper+", labels: {boardwalk.dev/scrape: \"true\"}}\n"); err != nil {
		s.Fatal(err)
	}
	for _, where := range []string{namespace, scraper} {
		for _, args := range [][]string{{"apply", "-f", "testdata/stranger.yaml"}, {"wait", "pod/stranger", "--for=condition=Ready", "--timeout=1m"}} {
			if _, err := s.Kubectl(s.ctx, append(args, "-n", where)...); err != nil {
				s.Fatal(err)
			}
		}
	}
	address := func(selector string) string {
		return s.kubectl("get", "pods", "-l", selector, "-o", "jsonpath={.items[0].status.podIP}")
	}
	component := "app.kubernetes.io/name=boardwalk,app.kubernetes.io/component="
	for _, c := range []struct {
		what, selector string
		port           int
		from           []string // the namespaces from which it can be reached
	}{
		{"the API", component + "apiserver", 8080, []string{namespace, scraper}},
		{"the API server's metrics", component + "apiserver", 8082, []string{scraper}},
		{"the renderer's metrics", component + "apiserver", 8083, []string{scraper}},
		{"the operator's metrics", component + "operator", 8081, []string{scraper}},
		{"the indexer's metrics", component + "indexer", 8081, []string{scraper}},
		{"the database", component + "evaluation-db", 5432, nil},
	} {
		ip := address(c.selector)
		for _, from := range []string{namespace, scraper} {
			wanted := strings.Contains(strings.Join(c.from, " "), from)
			out, err := s.Kubectl(s.ctx, "exec", "stranger", "-n", from, "--",
				"timeout", "1", "bash", "-c", fmt.Sprintf("exec 3<>/dev/tcp/%s/%d && echo reached", ip, c.port))
			if reached := strings.Contains(out, "reached"); reached != wanted {
				s.Errorf("from namespace %s, %s is reached: %v, wanted %v (%v)", from, c.what, reached, wanted, err)
			}
		}
	}
	if _, err := s.Kubectl(s.ctx, "delete", "namespace", scraper, "--wait=false"); err != nil {
		s.Fatal(err)
	}
	s.kubectl("delete", "pod", "stranger")
}
