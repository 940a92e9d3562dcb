//go:build e2e && linux

package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// testCauses has what the chain's indexer needs go away, and looks whether the Chain says what it is.
func (s step) testCauses() {
	says := func(reason, words string) {
		s.Helper()
		s.eventually(time.Minute, func() error {
			out := s.kubectl("get", "chain", "base", "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].reason}: {.status.conditions[?(@.type=="Ready")].message}`)
			if !strings.HasPrefix(out, reason+": ") || !strings.Contains(out, words) {
				return fmt.Errorf("the Chain says %q, wanted %s and %q", out, reason, words)
			}
			return nil
		})
	}
	doctor := s.doctor()
	if out, err := doctor(); err != nil || !strings.Contains(out, "ok     base, endpoint 1: ") || !strings.HasSuffix(out, "that token had no trade.\n") {
		s.Errorf("while nothing is wrong the doctor says (%v):\n%s", err, out)
	}
	s.kubectl("scale", "statefulset/boardwalk-evaluation-db", "--replicas=0")
	says("DatabaseUnreachable", "boardwalk-evaluation-db")
	out, err := doctor()
	if err == nil || !strings.Contains(out, ": the database doesn't answer\n") || !strings.Contains(out, "\nbase: DatabaseUnreachable: ") {
		s.Errorf("without a database the doctor says (%v):\n%s", err, out)
	}
	s.kubectl("scale", "statefulset/boardwalk-evaluation-db", "--replicas=1")
	s.kubectl("wait", "chain/base", "--for=condition=Ready", "--timeout=2m")

	endpoint := s.kubectl("get", "chain", "base", "-o", "jsonpath={.spec.rpc.endpoints}")
	s.kubectl("patch", "chain", "base", "--type=merge", "-p", `{"spec":{"rpc":{"endpoints":[{"urlFrom":{"secretKeyRef":{"name":"late","key":"url"}}}]}}}`)
	says("SecretMissing", "/etc/boardwalk/rpc/late/url")
	s.kubectl("create", "secret", "generic", "late", "--from-literal=url=http://anvil:8545")
	s.kubectl("wait", "chain/base", "--for=condition=Ready", "--timeout=3m") // the kubelet brings it within a minute or two
	s.kubectl("patch", "chain", "base", "--type=merge", "-p", `{"spec":{"rpc":{"endpoints":`+endpoint+`}}}`)

	s.kubectl("delete", "secret", "late")
	s.kubectl("patch", "chain", "base", "--type=merge", "-p", `{"spec":{"indexer":{"nodeSelector":{"disk":"none-has-it"}}}}`)
	says("Unschedulable", "didn't match Pod's node affinity/selector")
	s.kubectl("patch", "chain", "base", "--type=json", "-p", `[{"op":"remove","path":"/spec/indexer/nodeSelector"}]`)
	s.kubectl("wait", "chain/base", "--for=condition=Ready", "--timeout=2m")
}

// doctor gives what runs `kubectl boardwalk doctor`, as a developer has it: from outside the cluster, with the kubeconfig alone.
func (s step) doctor() func() (string, error) {
	s.Helper()
	dir := s.TempDir()
	if err := inRoot(s.ctx, "env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(dir, "kubectl-boardwalk"), "."); err != nil {
		s.Fatal(err)
	}
	return func() (string, error) { return s.Plugin(s.ctx, dir, "boardwalk", "doctor", "-n", namespace) }
}

// testSecondRelease tries to install another one beside it.
func (s step) testSecondRelease() {
	out, err := s.Helm(s.ctx, "install", "another", chart, "-n", namespace, "-f", "values.yaml", "--set", "crds.install=false")
	if err == nil || !strings.Contains(err.Error(), `has release "boardwalk" of this chart, and takes one alone`) {
		s.Errorf("a second release was let in: %s (%v)", out, err)
	}
}

// testSettings changes what all indexers have in common.
func (s step) testSettings() {
	s.keeping(func() {
		s.helm("upgrade", "boardwalk", chart, "--wait", "--timeout", "5m", "-f", "values.yaml", "--reuse-values",
			"--set", "indexers.logLevel=debug", "--set", "indexers.podLabels.team=markets")
		s.eventually(3*time.Minute, func() error { // the kubelet brings the file within a minute or two
			args := s.kubectl("get", "deployment", indexerObject, "-o", "jsonpath={.spec.template.spec.containers[0].args} {.spec.template.metadata.labels.team}")
			if !strings.Contains(args, "--log-level=debug") || !strings.HasSuffix(args, " markets") {
				return fmt.Errorf("the indexer runs with %s", args)
			}
			return nil
		})
		s.kubectl("rollout", "status", "deployment/"+indexerObject, "--timeout=1m")
	})
}

// testTrial gives the operator Secrets with which no indexer could work, one after another, and sees that the indexer runs on as it was. From then on
// kubectl owns the operator's arguments, and Helm would upgrade no more.
func (s step) testTrial() {
	pod := func() string {
		return s.kubectl("get", "pods", "-l", "boardwalk.dev/chain=base", "-o", "jsonpath={.items[*].metadata.uid}")
	}
	before := pod()
	address := s.kubectl("get", "secret", "boardwalk-evaluation-db", "-o", "go-template={{.data.uri | base64decode}}")
	s.kubectl("create", "secret", "generic", "nowhere", "--from-literal=uri="+strings.Replace(address, "boardwalk-evaluation-db", "boardwalk-no-db", 1))
	operator := func(secret string) {
		args := s.kubectl("get", "deployment", "boardwalk-operator", "-o", "jsonpath={.spec.template.spec.containers[0].args}")
		of := regexp.MustCompile(`--database-secret=[a-z-]+`)
		s.kubectl("patch", "deployment", "boardwalk-operator", "-p",
			`{"spec":{"template":{"spec":{"containers":[{"name":"operator","args":`+of.ReplaceAllString(args, "--database-secret="+secret)+`}]}}}}`)
		s.kubectl("rollout", "status", "deployment/boardwalk-operator", "--timeout=2m")
	}
	for secret, want := range map[string]string{
		"missing": `SecretMissing: secret "missing" not found`,
		"nowhere": "in vain: database: ",
	} {
		operator(secret)
		s.eventually(2*time.Minute, func() error {
			out := s.kubectl("get", "chain", "base", "-o", `jsonpath={.status.conditions[?(@.type=="Available")].message}`)
			if !strings.Contains(out, want) {
				return fmt.Errorf("the Chain says %q, wanted %q", out, want)
			}
			return nil
		})
		if now := pod(); now != before {
			s.Errorf("with Secret %s the indexer's pod was replaced: %s before, %s now", secret, before, now)
		}
	}
	operator("boardwalk-evaluation-db")
	s.kubectl("delete", "secret", "nowhere")
	s.kubectl("wait", "chain/base", "--for=condition=Ready", "--timeout=2m")
	if now := pod(); now != before {
		s.Errorf("the indexer's pod was replaced although nothing has changed: %s before, %s now", before, now)
	}
}

// testPassword changes the database's password in the database and in its Secret, and ends all connections. No program is started anew for it. Helm, whose
// former revisions have the former password, would go back no more.
func (s step) testPassword() {
	const programs = "app.kubernetes.io/component in (apiserver,indexer)"
	pods := func() string {
		return s.kubectl("get", "pods", "-l", programs, "-o", "jsonpath={range .items[*]}{.metadata.uid} {.status.containerStatuses[*].restartCount}\n{end}")
	}
	psql := func(sql string) {
		s.kubectl("exec", "statefulset/boardwalk-evaluation-db", "--", "psql", "-h", "/tmp", "-U", "postgres", "-d", "boardwalk", "-c", sql)
	}
	before := pods()
	const password = "rotated0password"
	address := s.kubectl("get", "secret", "boardwalk-evaluation-db", "-o", "go-template={{.data.uri | base64decode}}")
	rotated := regexp.MustCompile(`:[A-Za-z0-9]+@`).ReplaceAllString(address, ":"+password+"@")
	if rotated == address {
		s.Fatal("the address has no password")
	}
	psql("ALTER ROLE boardwalk PASSWORD '" + password + "'")
	host := regexp.MustCompile(`@[^:]+:`)
	ip := s.kubectl("get", "pod", "boardwalk-evaluation-db-0", "-o", "jsonpath={.status.podIP}") // it may look no name up
	for uri, works := range map[string]bool{address: false, rotated: true} {
		uri = host.ReplaceAllString(uri, "@"+ip+":")
		_, err := s.Kubectl(s.ctx, "exec", "-n", namespace, "statefulset/boardwalk-evaluation-db", "--", "psql", uri, "-c", "SELECT 1")
		if (err == nil) != works {
			s.Fatalf("with another password a connection works, %t: %v", works, err)
		}
	}
	s.kubectl("patch", "secret", "boardwalk-evaluation-db", "-p", `{"stringData":{"uri":"`+rotated+`"}}`)
	psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'boardwalk'")
	s.beyond(s.indexed()+3, 4*time.Minute) // the kubelet brings the file within a minute or two
	s.eventually(2*time.Minute, func() error {
		var heartbeat struct{ Status string }
		if err := s.api("/api/status/heartbeat", &heartbeat); err != nil || heartbeat.Status != "ok" {
			return fmt.Errorf("the heartbeat is %+v, %w", heartbeat, err)
		}
		return nil
	})
	if after := pods(); after != before {
		s.Errorf("programs were started anew:\n%s\nbefore\n%s", after, before)
	}
}

// testMetrics reads what Prometheus would.
func (s step) testMetrics() {
	for component, x := range map[string]struct {
		port int
		want []string
	}{
		"apiserver": {8082, []string{`boardwalk_api_chain_lag_seconds{chain="base"}`, `boardwalk_api_chain_data_age_seconds{chain="base"}`, "boardwalk_api_database_read 1", "boardwalk_api_ready 1", "boardwalk_database_up 1", `go_sql_open_connections{db_name="read"}`, "boardwalk_build_info{commit="}},
		"indexer":   {8081, []string{`boardwalk_indexed_block{chain="base"}`, "boardwalk_database_up 1", "boardwalk_commit_duration_seconds_count", "boardwalk_build_info{commit="}},
		"operator": {8081, []string{
			`boardwalk_chain_condition{chain="base",condition="Ready",reason="Ready"} 1`, `boardwalk_chain_change_waits{chain="base"} 0`,
			`boardwalk_venue_open{chain="base",reason="Open",venue="`, "boardwalk_operator_settings_valid 1", "boardwalk_build_info{commit=",
		}},
	} {
		ip := s.kubectl("get", "pods", "-l", "app.kubernetes.io/component="+component, "--field-selector=status.phase=Running", "-o", "jsonpath={.items[0].status.podIP}")
		s.eventually(time.Minute, func() error {
			text, err := s.request(http.MethodGet, fmt.Sprintf("http://%s:%d/metrics", ip, x.port), nil)
			if err != nil {
				return err
			}
			for _, want := range x.want {
				if !strings.Contains(string(text), "\n"+want) {
					return fmt.Errorf("the metrics of the %s lack %s", component, want)
				}
			}
			return nil
		})
	}
}
