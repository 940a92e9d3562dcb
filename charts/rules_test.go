package charts_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// rule is an alert.
type rule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

// rules are the alerts that the chart renders, and the file with them.
func rules(t *testing.T) (all []rule, file string) {
	t.Helper()
	o := one(t, render(t, "helm", "--set", "metrics.prometheusRule.enabled=true"), "PrometheusRule", "boardwalk")
	spec, err := json.Marshal(at(o, "spec"))
	if err != nil {
		t.Fatal(err)
	}
	var groups struct{ Groups []struct{ Rules []rule } }
	if err := yaml.Unmarshal(spec, &groups); err != nil {
		t.Fatal(err)
	}
	for _, g := range groups.Groups {
		all = append(all, g.Rules...)
	}
	file = filepath.Join(t.TempDir(), "rules.yaml") // JSON is YAML
	if err := os.WriteFile(file, spec, 0o600); err != nil {
		t.Fatal(err)
	}
	return all, file
}

// promtool runs Prometheus' own tool.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("promtool is not on PATH: hack/setup.sh installs it")
	}
	if out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// firing is what makes an alert fire: series as promtool writes them, one value a minute, and the labels that the alert then has.
type firing struct {
	series map[string]string
	labels string
}

// alerts has a case for each alert. What isn't said is as in health.
var alerts = map[string]firing{
	"BoardwalkAPIDown":      {map[string]string{`boardwalk_api_ready{namespace="b",pod="a-1"}`: `0x60`}, `namespace="b"`},
	"BoardwalkAPIDataStale": {map[string]string{`boardwalk_api_chain_lag_seconds{namespace="b",pod="a-1",chain="base"}`: `0+60x60`}, `chain="base",namespace="b"`},
	"BoardwalkAPIDatabaseUnread": {
		map[string]string{`boardwalk_api_database_read{namespace="b",pod="a-1"}`: `0x60`}, `namespace="b",pod="a-1"`,
	},
	"BoardwalkAPIErrors": {
		map[string]string{`boardwalk_http_request_duration_seconds_count{namespace="b",pod="a-1",operation="x",status="503"}`: `0+100x60`}, `namespace="b"`,
	},
	"BoardwalkAPISlow": {
		map[string]string{
			`boardwalk_http_request_duration_seconds_bucket{namespace="b",pod="a-1",operation="x",status="200",le="0.25"}`: `0+1x60`,
			`boardwalk_http_request_duration_seconds_bucket{namespace="b",pod="a-1",operation="x",status="200",le="1"}`:    `0+100x60`,
			`boardwalk_http_request_duration_seconds_bucket{namespace="b",pod="a-1",operation="x",status="200",le="+Inf"}`: `0+100x60`,
		}, `namespace="b"`,
	},
	"BoardwalkCardsUndrawn": {map[string]string{`boardwalk_renderer_browser_up{namespace="b",pod="a-1"}`: `0x60`}, `namespace="b",pod="a-1"`},
	"BoardwalkDatabaseDown": {
		map[string]string{`boardwalk_database_up{namespace="b",pod="a-1"}`: `0x60`, `boardwalk_database_up{namespace="b",pod="i-1"}`: `0x60`}, `namespace="b"`,
	},
	"BoardwalkDatabaseUnreachable": {map[string]string{`boardwalk_database_up{namespace="b",pod="i-1"}`: `0x60`}, `namespace="b",pod="i-1"`},
	"BoardwalkDatabaseConnectionsShort": {
		map[string]string{`go_sql_wait_duration_seconds_total{job="boardwalk-apiserver",namespace="b",pod="a-1",db_name="read"}`: `0+120x60`},
		`job="boardwalk-apiserver",namespace="b",pod="a-1"`,
	},
	"BoardwalkOperatorDown":    {map[string]string{`up{job="boardwalk-operator",namespace="b",pod="o-1"}`: `0x60`}, `namespace="b"`},
	"BoardwalkSettingsInvalid": {map[string]string{`boardwalk_operator_settings_valid{namespace="b",pod="o-1"}`: `0x60`}, `namespace="b"`},
	"BoardwalkRolloutStopped":  {map[string]string{`boardwalk_chain_change_waits{namespace="b",pod="o-1",chain="base"}`: `1x60`}, `namespace="b"`},
	"BoardwalkChainStalled": {
		map[string]string{`boardwalk_chain_condition{namespace="b",pod="o-1",chain="base",condition="Stalled",reason="Halted"}`: `1x60`},
		`chain="base",namespace="b",reason="Halted"`,
	},
	"BoardwalkChainNotReady": {
		map[string]string{`boardwalk_chain_condition{namespace="b",pod="o-1",chain="base",condition="Ready",reason="DatabaseUnreachable"}`: `0x60`},
		`chain="base",namespace="b",reason="DatabaseUnreachable"`,
	},
	"BoardwalkChainNotAsDeclared": {
		map[string]string{`boardwalk_chain_condition{namespace="b",pod="o-1",chain="base",condition="AsDeclared",reason="WrongDeclaration"}`: `0x60`},
		`chain="base",namespace="b"`,
	},
	"BoardwalkVenueClosed": {
		map[string]string{`boardwalk_venue_open{namespace="b",pod="o-1",venue="flap",chain="base",reason="ContractPaused"}`: `0x60`},
		`chain="base",namespace="b",reason="ContractPaused",venue="flap"`,
	},
	"BoardwalkBlocksMissing": {map[string]string{`boardwalk_missing_blocks{namespace="b",pod="i-1",chain="base"}`: `3x60`}, `chain="base",namespace="b",pod="i-1"`},
	"BoardwalkEndpointFails": {
		map[string]string{`boardwalk_rpc_failures_total{namespace="b",pod="i-1",chain="base",endpoint="endpoint 2"}`: `0+30x60`},
		`chain="base",endpoint="endpoint 2",namespace="b"`,
	},
	"BoardwalkPlanTooSmall": {map[string]string{`boardwalk_behind_plan{namespace="b",pod="i-1",chain="base"}`: `1x60`}, `chain="base",namespace="b",pod="i-1"`},
	"BoardwalkIndexerRestarts": {
		map[string]string{`process_start_time_seconds{job="boardwalk-indexer",namespace="b",pod="i-1"}`: `0+300x60`}, `job="boardwalk-indexer",namespace="b",pod="i-1"`,
	},
}

// health is a namespace in which all is well.
var health = map[string]string{
	`boardwalk_api_ready{namespace="b",pod="a-1"}`: `1x60`,
	// A chain that reads its past, one that is suspended, and their venues.
	`boardwalk_api_chain_lag_seconds{namespace="b",pod="a-1",chain="past"}`:                                 `900000x60`,
	`boardwalk_chain_condition{namespace="b",pod="o-1",chain="past",condition="Ready",reason="CatchingUp"}`: `0x60`,
	`boardwalk_venue_open{namespace="b",pod="o-1",venue="flap",chain="past",reason="IndexerBehind"}`:        `0x60`,
	`boardwalk_venue_open{namespace="b",pod="o-1",venue="flap",chain="suspended",reason="ChainSuspended"}`:  `0x60`,
	// A rollout that goes on.
	`boardwalk_chain_change_waits{namespace="c",pod="o-1",chain="one"}`:                                            `1x35 0x25`,
	`boardwalk_chain_change_waits{namespace="c",pod="o-1",chain="two"}`:                                            `1x60`,
	`up{job="boardwalk-apiserver",namespace="b",pod="a-1"}`:                                                        `1x60`,
	`up{job="boardwalk-operator",namespace="b",pod="o-1"}`:                                                         `1x60`,
	`boardwalk_api_chain_lag_seconds{namespace="b",pod="a-1",chain="base"}`:                                        `2x60`,
	`boardwalk_api_database_read{namespace="b",pod="a-1"}`:                                                         `1x60`,
	`boardwalk_http_request_duration_seconds_count{namespace="b",pod="a-1",operation="x",status="200"}`:            `0+1000x60`,
	`boardwalk_http_request_duration_seconds_bucket{namespace="b",pod="a-1",operation="x",status="200",le="0.25"}`: `0+1000x60`,
	`boardwalk_http_request_duration_seconds_bucket{namespace="b",pod="a-1",operation="x",status="200",le="+Inf"}`: `0+1000x60`,
	`boardwalk_renderer_browser_up{namespace="b",pod="a-1"}`:                                                       `1x60`,
	`boardwalk_database_up{namespace="b",pod="a-1"}`:                                                               `1x60`,
	`boardwalk_database_up{namespace="b",pod="i-1"}`:                                                               `1x60`,
	`go_sql_wait_duration_seconds_total{job="boardwalk-apiserver",namespace="b",pod="a-1",db_name="read"}`:         `0+1x60`,
	`boardwalk_operator_settings_valid{namespace="b",pod="o-1"}`:                                                   `1x60`,
	`boardwalk_chain_change_waits{namespace="b",pod="o-1",chain="base"}`:                                           `0x60`,
	`boardwalk_chain_condition{namespace="b",pod="o-1",chain="base",condition="Ready",reason="Ready"}`:             `1x60`,
	`boardwalk_chain_condition{namespace="b",pod="o-1",chain="bsc",condition="Ready",reason="CatchingUp"}`:         `0x60`,
	`boardwalk_chain_condition{namespace="b",pod="o-1",chain="bsc",condition="Ready",reason="Suspended"}`:          `1x60`,
	`boardwalk_chain_condition{namespace="b",pod="o-1",chain="base",condition="AsDeclared",reason="NotAsked"}`:     `-1x60`,
	`boardwalk_venue_open{namespace="b",pod="o-1",venue="flap",chain="base",reason="Open"}`:                        `1x60`,
	`boardwalk_missing_blocks{namespace="b",pod="i-1",chain="base"}`:                                               `0x60`,
	`boardwalk_rpc_failures_total{namespace="b",pod="i-1",chain="base",endpoint="endpoint 1"}`:                     `0+1x60`,
	`boardwalk_rpc_requests_total{namespace="b",pod="i-1",chain="base",endpoint="endpoint 1"}`:                     `0+100x60`,
	`boardwalk_rpc_requests_total{namespace="b",pod="i-1",chain="base",endpoint="endpoint 2"}`:                     `0+100x60`,
	`boardwalk_behind_plan{namespace="b",pod="i-1",chain="base"}`:                                                  `0x60`,
	`process_start_time_seconds{job="boardwalk-indexer",namespace="b",pod="i-1"}`:                                  `1000x30 2000x30`,
}

// TestAlerts has Prometheus' own tool say whether each alert fires when it should, and none when all is well.
func TestAlerts(t *testing.T) {
	t.Parallel()
	all, file := rules(t)
	promtool(t, "check", "rules", file)
	type sample struct {
		Labels string  `json:"labels"`
		Value  float64 `json:"value"`
	}
	type series struct {
		Series string `json:"series"`
		Values string `json:"values"`
	}
	type query struct {
		Expr    string   `json:"expr"`
		At      string   `json:"eval_time"`
		Samples []sample `json:"exp_samples"`
	}
	type check struct {
		Interval string   `json:"interval"`
		Series   []series `json:"input_series"`
		Queries  []query  `json:"promql_expr_test"`
	}
	of := func(different map[string]string, expr string, want ...sample) check {
		c := check{Interval: "1m", Queries: []query{{Expr: expr, At: "60m", Samples: want}}}
		for name, values := range different {
			c.Series = append(c.Series, series{name, values})
		}
		for name, values := range health {
			if _, is := different[name]; !is {
				c.Series = append(c.Series, series{name, values})
			}
		}
		return c
	}
	checks := []check{of(nil, `ALERTS`)}
	for _, r := range all {
		x, known := alerts[r.Alert]
		if !known {
			t.Errorf("nobody has tried alert %s", r.Alert)
			continue
		}
		labels := fmt.Sprintf(`ALERTS{alertname=%q,alertstate="firing",severity=%q,%s}`, r.Alert, r.Labels["severity"], x.labels)
		checks = append(checks, of(x.series, fmt.Sprintf(`ALERTS{alertname=%q,alertstate="firing"}`, r.Alert), sample{labels, 1}))
	}
	raw, err := json.Marshal(map[string]any{"rule_files": []string{file}, "evaluation_interval": "1m", "tests": checks})
	if err != nil {
		t.Fatal(err)
	}
	tests := filepath.Join(t.TempDir(), "tests.yaml")
	if err := os.WriteFile(tests, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "test", "rules", tests)
}

// TestAlertsArePagesAndMetrics: each alert has a page that it links to, a severity, and asks for metrics that the programs have.
func TestAlertsArePagesAndMetrics(t *testing.T) {
	t.Parallel()
	pages, err := os.ReadFile("../docs/runbooks.md")
	if err != nil {
		t.Fatal(err)
	}
	known := metricsOfSource(t)
	all, _ := rules(t)
	for _, r := range all {
		if !strings.Contains(string(pages), "\n## "+r.Alert+"\n") {
			t.Errorf("docs/runbooks.md has no page for %s", r.Alert)
		}
		if want := "/docs/runbooks.md#" + strings.ToLower(r.Alert); !strings.HasSuffix(r.Annotations["runbook_url"], want) {
			t.Errorf("%s links to %s, want …%s", r.Alert, r.Annotations["runbook_url"], want)
		}
		if s := r.Labels["severity"]; s != "critical" && s != "warning" {
			t.Errorf("%s has the severity %q", r.Alert, s)
		}
		for _, name := range regexp.MustCompile(`boardwalk_[a-z_]+`).FindAllString(r.Expr, -1) {
			if !known[name] && !known[strings.TrimSuffix(strings.TrimSuffix(name, "_count"), "_bucket")] {
				t.Errorf("%s asks for %s, which no program has", r.Alert, name)
			}
		}
	}
	for _, heading := range regexp.MustCompile(`(?m)^## (Boardwalk\w+)$`).FindAllStringSubmatch(string(pages), -1) {
		if !slices.ContainsFunc(all, func(r rule) bool { return r.Alert == heading[1] }) {
			t.Errorf("docs/runbooks.md has a page for %s, which is no alert", heading[1])
		}
	}
}

// metricsOfSource are the names of metrics in the programs' source.
func metricsOfSource(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	name := regexp.MustCompile(`"(boardwalk_[a-z_]+)"`)
	for _, dir := range []string{"apiserver", "indexer", "internal", "members", "operator", "renderer"} {
		err := filepath.WalkDir(filepath.Join("..", dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			raw, err := os.ReadFile(path)
			for _, m := range name.FindAllStringSubmatch(string(raw), -1) {
				out[m[1]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestRunbooksElsewhere: a team with pages of its own has alerts link there.
func TestRunbooksElsewhere(t *testing.T) {
	t.Parallel()
	o := one(t, render(t, "helm", "-f", filepath.Join(chart, "ci", "everything.yaml")), "PrometheusRule", "markets")
	groups, _, err := unstructured.NestedSlice(o.Object, "spec", "groups")
	if err != nil || !strings.Contains(fmt.Sprint(groups), "runbook_url:https://runbooks.example.com/boardwalk#boardwalkapidown") || o.GetLabels()["release"] != "prometheus" {
		t.Errorf("%v, labels %v, groups %v", err, o.GetLabels(), groups)
	}
}
