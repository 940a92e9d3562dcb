package charts_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/boardwalkhq/boardwalk/internal/telemetry"
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
	known := knownMetrics(t)
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
		askable(t, r.Alert, r.Expr, known)
	}
	for _, heading := range regexp.MustCompile(`(?m)^## (Boardwalk\w+)$`).FindAllStringSubmatch(string(pages), -1) {
		if !slices.ContainsFunc(all, func(r rule) bool { return r.Alert == heading[1] }) {
			t.Errorf("docs/runbooks.md has a page for %s, which is no alert", heading[1])
		}
	}
}

// metric is what can be asked of a metric.
type metric struct {
	labels    []string
	histogram bool
}

// knownMetrics are the programs' metrics, those of the libraries that they use, and Prometheus' own.
func knownMetrics(t *testing.T) map[string]metric {
	t.Helper()
	out := metricsOfSource(t)
	out["up"], out["ALERTS"] = metric{}, metric{labels: []string{"alertname", "alertstate", "severity", "chain"}}
	r := telemetry.NewRegistry()
	r.MustRegister(collectors.NewDBStatsCollector(new(sql.DB), "read"))
	all := make(chan *prometheus.Desc)
	go func() {
		r.Describe(all)
		close(all)
	}()
	described := regexp.MustCompile(`fqName: "(\w+)".*constLabels: \{(?:(\w+)=.*?)?\}`)
	for d := range all {
		m := described.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("a metric is described as %s", d)
		}
		out[m[1]] = metric{labels: m[2:]}
	}
	return out
}

// metricsOfSource are the metrics that the programs' source makes.
func metricsOfSource(t *testing.T) map[string]metric {
	t.Helper()
	out := map[string]metric{}
	for _, dir := range []string{"apiserver", "indexer", "internal", "members", "operator", "renderer"} {
		err := filepath.WalkDir(filepath.Join("..", dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.PreorderStack(file, nil, func(n ast.Node, around []ast.Node) bool {
				if name := text(n); strings.HasPrefix(name, "boardwalk_") {
					if m, is := madeAround(around); is {
						out[name] = m
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// text is what a node says that is a text; empty for others.
func text(n ast.Node) string {
	if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
		if s, err := strconv.Unquote(l.Value); err == nil {
			return s
		}
	}
	return ""
}

// madeAround is the metric that is made around its name: by prometheus.New…, of the options that it is in, or by a function that the surrounding
// one makes for that. It is false where no metric is made.
func madeAround(around []ast.Node) (m metric, is bool) {
	for i, n := range slices.Backward(around) {
		switch n := n.(type) {
		case *ast.KeyValueExpr, *ast.UnaryExpr:
		case *ast.CompositeLit:
			if kind, ok := n.Type.(*ast.SelectorExpr); !ok || !strings.HasSuffix(kind.Sel.Name, "Opts") {
				return m, is
			}
			is = true
			m.take(n)
		case *ast.CallExpr:
			m.take(n)
			if f, ok := n.Fun.(*ast.Ident); ok {
				for _, a := range n.Args[min(2, len(n.Args)):] { // after name and help
					if l := text(a); l != "" {
						m.labels = append(m.labels, l)
					}
				}
				m.take(local(around[:i], f.Name))
			}
			return m, true
		default:
			return m, is
		}
	}
	return m, is
}

// local is the function that is called so within the function around.
func local(around []ast.Node, name string) (found ast.Node) {
	for _, n := range around {
		d, ok := n.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
				if id, ok := a.Lhs[0].(*ast.Ident); ok && id.Name == name {
					found = a.Rhs[0]
				}
			}
			return true
		})
	}
	return found
}

// take adds the labels that a part of the source gives a metric, as []string{…} or prometheus.Labels{…}.
func (m *metric) take(part ast.Node) {
	if part == nil {
		return
	}
	ast.Inspect(part, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			m.histogram = m.histogram || strings.Contains(n.Sel.Name, "Histogram")
		case *ast.CompositeLit:
			_, list := n.Type.(*ast.ArrayType)
			kind, named := n.Type.(*ast.SelectorExpr)
			for _, e := range n.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok && named && kind.Sel.Name == "Labels" {
					e = pair.Key
				} else if !list {
					continue
				}
				if l := text(e); l != "" {
					m.labels = append(m.labels, l)
				}
			}
		}
		return true
	})
}

// labelsOfTargets are those that Prometheus gives every series by whom it is from; the last one by the ServiceMonitor of this chart, to indexers.
var labelsOfTargets = []string{"namespace", "pod", "job", "instance", "boardwalk_dev_chain"}

// Parts of expressions.
var (
	quoted   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	selector = regexp.MustCompile(`(\w+)\s*\{([^}]*)\}`)
	matched  = regexp.MustCompile(`(\w+)\s*[=!]`)
	grouped  = regexp.MustCompile(`\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	noName   = regexp.MustCompile(`\{[^}]*\}|\[[^\]]*\]|\b(?:and|or|unless|bool|offset)\b|\b\w+\s*\(`)
	name     = regexp.MustCompile(`\b[a-zA-Z_]\w*`)
)

// asked is what an expression names: labels that it groups by, and the labels that the series have which it asks for.
type asked struct{ groups, labels []string }

// askable checks that there are the metrics that an expression asks for, with the labels that it names.
func askable(t *testing.T, who, expr string, known map[string]metric) (a asked) {
	t.Helper()
	expr = quoted.ReplaceAllString(expr, `""`)
	find := func(n string) metric {
		if m, ok := known[n]; ok && !m.histogram {
			return m
		}
		for _, part := range []string{"_bucket", "_count", "_sum"} {
			if m := known[strings.TrimSuffix(n, part)]; m.histogram && strings.HasSuffix(n, part) {
				return metric{labels: append(slices.Clone(m.labels), "le")}
			}
		}
		t.Errorf("%s asks for %s, which no program has", who, n)
		return metric{}
	}
	a.labels = slices.Clone(labelsOfTargets)
	series := map[string][]string{}
	for _, n := range name.FindAllString(noName.ReplaceAllString(grouped.ReplaceAllString(expr, ""), " "), -1) {
		if _, known := series[n]; !known {
			series[n] = append(find(n).labels, labelsOfTargets...)
			a.labels = append(a.labels, series[n]...)
		}
	}
	for _, s := range selector.FindAllStringSubmatch(expr, -1) {
		for _, l := range matched.FindAllStringSubmatch(s[2], -1) {
			if !slices.Contains(series[s[1]], l[1]) {
				t.Errorf("%s asks for %s with a label %s, which it doesn't have", who, s[1], l[1])
			}
		}
	}
	for _, g := range grouped.FindAllStringSubmatch(expr, -1) {
		a.groups = append(a.groups, name.FindAllString(g[1], -1)...)
	}
	for _, l := range a.groups {
		if !slices.Contains(a.labels, l) {
			t.Errorf("%s groups by %s, which nothing has that it asks for", who, l)
		}
	}
	return a
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
