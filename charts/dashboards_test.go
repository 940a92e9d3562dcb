package charts_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// dashboard is what of one of Grafana's is checked.
type dashboard struct {
	UID, Title, Timezone string
	Tags                 []string
	SchemaVersion        int
	Editable             bool
	Templating           struct{ List []variable }
	Panels               []panel
}

// variable is what people choose by.
type variable struct {
	Name, Type string
	Datasource datasource
	Definition string
	// Query is a text for a variable of type datasource.
	Query any
}

type panel struct {
	ID                       int
	Type, Title, Description string
	Datasource               datasource
	GridPos                  place
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Targets                  []target
}

type target struct {
	RefID, Expr, LegendFormat string
	Datasource                datasource
}

type datasource struct{ Type, UID string }

// chosen is the source of data that people choose.
var chosen = datasource{Type: "prometheus", UID: "${datasource}"}

// place is where a panel is, on a grid of 24 columns.
type place struct{ X, Y, W, H int }

func (p place) overlaps(o place) bool {
	return p.X < o.X+o.W && o.X < p.X+p.W && p.Y < o.Y+o.H && o.Y < p.Y+p.H
}

// units are Grafana's names of the units that panels have.
var units = []string{"none", "short", "s", "bytes", "reqps", "ops", "percentunit"}

// dashboards are those that the chart renders, by the names of their files.
func dashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(chart, "files", "dashboards", "*.json"))
	if err != nil || len(files) != 4 {
		t.Fatalf("dashboards: %v, %v", files, err)
	}
	all := render(t, "helm", "--set", "metrics.dashboards.enabled=true")
	out := map[string]dashboard{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rendered, _ := at(one(t, all, "ConfigMap", "boardwalk-dashboard-"+name), "data", "boardwalk-"+name+".json").(string)
		if strings.TrimSpace(rendered) != strings.TrimSpace(string(raw)) {
			t.Errorf("%s isn't rendered as it is", file)
		}
		var d dashboard
		if err := json.Unmarshal([]byte(rendered), &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out[name] = d
	}
	return out
}

// TestDashboardsAreWhole: what Grafana and people need of each dashboard and panel.
func TestDashboardsAreWhole(t *testing.T) {
	t.Parallel()
	titles := map[string]string{}
	for name, d := range dashboards(t) {
		if d.UID != "boardwalk-"+name || d.SchemaVersion != 39 || !d.Editable || d.Timezone != "browser" || !slices.Equal(d.Tags, []string{"boardwalk"}) {
			t.Errorf("%s: uid %s, schemaVersion %d, editable %t, timezone %s, tags %v", name, d.UID, d.SchemaVersion, d.Editable, d.Timezone, d.Tags)
		}
		if other := titles[d.Title]; other != "" || d.Title == "" {
			t.Errorf("%s has the title %q, and so has %q", name, d.Title, other)
		}
		titles[d.Title] = name
		for i := range d.Panels {
			p := &d.Panels[i]
			if err := p.whole(); err != nil {
				t.Errorf("%s, panel %d %q: %v", name, p.ID, p.Title, err)
			}
			for _, o := range d.Panels[:i] {
				if p.ID == o.ID || p.GridPos.overlaps(o.GridPos) || p.Title == o.Title {
					t.Errorf("%s: panels %d %q and %d %q have the same id, title or place", name, o.ID, o.Title, p.ID, p.Title)
				}
			}
		}
	}
}

// whole says what a panel lacks.
func (p *panel) whole() error {
	if g := p.GridPos; p.ID < 1 || p.Title == "" || g.X < 0 || g.Y < 0 || g.W < 1 || g.H < 1 || g.X+g.W > 24 {
		return fmt.Errorf("no id, no title, or not on the grid: %+v", g)
	}
	if p.Type == "row" { // a heading
		return nil
	}
	if !slices.Contains([]string{"timeseries", "stat", "table"}, p.Type) || !slices.Contains(units, p.FieldConfig.Defaults.Unit) {
		return fmt.Errorf("type %q, unit %q", p.Type, p.FieldConfig.Defaults.Unit)
	}
	if !strings.HasPrefix(p.Description, "Healthy is ") || !strings.HasSuffix(p.Description, ".") {
		return fmt.Errorf("the description doesn't say what is healthy: %q", p.Description)
	}
	if p.Datasource != chosen || len(p.Targets) == 0 {
		return fmt.Errorf("it asks %v for %d things", p.Datasource, len(p.Targets))
	}
	refs := map[string]bool{}
	for _, q := range p.Targets {
		if q.Datasource != chosen || q.Expr == "" || q.RefID == "" || refs[q.RefID] {
			return fmt.Errorf("target %q asks %v for %q", q.RefID, q.Datasource, q.Expr)
		}
		refs[q.RefID] = true
	}
	return nil
}

// variables in an expression are Grafana's, as in $namespace or ${namespace:regex}.
var variables = regexp.MustCompile(`\$(?:(\w+)|\{(\w+)(?::\w+)?\})`)

// filled is an expression with values for its variables.
func (d *dashboard) filled(t *testing.T, who, expr string) string {
	t.Helper()
	out := variables.ReplaceAllStringFunc(expr, func(v string) string {
		m := variables.FindStringSubmatch(v)
		n := m[1] + m[2]
		if n == "__rate_interval" {
			return "5m"
		}
		if !slices.ContainsFunc(d.Templating.List, func(v variable) bool { return v.Name == n }) {
			t.Errorf("%s: there is no variable %s", who, n)
		}
		return "word"
	})
	if strings.Contains(out, "$") {
		t.Errorf("%s: a variable isn't understood in %s", who, expr)
	}
	return out
}

// TestDashboardsAskWhatThereIs has Prometheus' own tool read each expression, and looks for its metrics and labels in the programs.
func TestDashboardsAskWhatThereIs(t *testing.T) {
	t.Parallel()
	known := knownMetrics(t)
	for name, d := range dashboards(t) {
		type rule struct {
			Record string `json:"record"`
			Expr   string `json:"expr"`
		}
		var rules []rule
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				who := fmt.Sprintf("%s, %q, %s", name, p.Title, q.RefID)
				expr := d.filled(t, who, q.Expr)
				rules = append(rules, rule{fmt.Sprintf("%s:panel_%d:%s", name, p.ID, q.RefID), expr})
				q.legend(t, who, askable(t, who, expr, known))
			}
		}
		d.choices(t, name, known)
		raw, err := json.Marshal(map[string]any{"groups": []any{map[string]any{"name": name, "rules": rules}}})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), name+".yaml")
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		promtool(t, "check", "rules", file)
	}
}

// legend checks that the answer to an expression has what tells its lines apart.
func (q *target) legend(t *testing.T, who string, has asked) {
	t.Helper()
	told := has.labels
	if len(has.groups) > 0 {
		told = has.groups
	}
	for _, l := range regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`).FindAllStringSubmatch(q.LegendFormat, -1) {
		if !slices.Contains(told, l[1]) {
			t.Errorf("%s: the legend has %s, and the answer doesn't", who, l[1])
		}
	}
}

// choices checks the variables: the first one is the source of data, which is asked for the values of the others.
func (d *dashboard) choices(t *testing.T, name string, known map[string]metric) {
	t.Helper()
	if v := d.Templating.List[0]; v.Name != "datasource" || v.Type != "datasource" || v.Query != "prometheus" {
		t.Errorf("%s: the first variable is %+v", name, v)
	}
	values := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
	for _, v := range d.Templating.List[1:] {
		who := name + ", variable " + v.Name
		m := values.FindStringSubmatch(d.filled(t, who, v.Definition))
		if m == nil {
			t.Errorf("%s asks for %q", who, v.Definition)
		} else if has := askable(t, who, m[1], known); !slices.Contains(has.labels, m[2]) {
			t.Errorf("%s asks for the label %s, which %s doesn't have", who, m[2], m[1])
		}
		if q, _ := v.Query.(map[string]any); q["query"] != v.Definition || v.Type != "query" || v.Datasource != chosen {
			t.Errorf("%s is of type %s, defined as %q, and asks %v for %v", who, v.Type, v.Definition, v.Datasource, v.Query)
		}
	}
}

// TestDashboardsNameAlerts: descriptions name alerts that there are, and each alert is named where it is watched.
func TestDashboardsNameAlerts(t *testing.T) {
	t.Parallel()
	all, _ := rules(t)
	left := map[string]bool{}
	for _, r := range all {
		left[r.Alert] = true
	}
	for name, d := range dashboards(t) {
		for _, p := range d.Panels {
			for _, alert := range regexp.MustCompile(`\bBoardwalk[A-Z]\w*`).FindAllString(p.Description, -1) {
				if _, is := left[alert]; !is {
					t.Errorf("%s, %q names %s, which is no alert", name, p.Title, alert)
				}
				left[alert] = false
			}
		}
	}
	for _, alert := range slices.Sorted(maps.Keys(left)) {
		if left[alert] {
			t.Errorf("no panel names %s", alert)
		}
	}
}

// TestDashboardsElsewhere: where Grafana finds dashboards by other labels, in another namespace, or by its operator.
func TestDashboardsElsewhere(t *testing.T) {
	t.Parallel()
	check := func(o *unstructured.Unstructured, namespace string, labels, annotations map[string]string) {
		t.Helper()
		for l, v := range labels {
			if o.GetLabels()[l] != v {
				t.Errorf("%s has the labels %v", key(o), o.GetLabels())
			}
		}
		if o.GetNamespace() != namespace || !maps.Equal(o.GetAnnotations(), annotations) {
			t.Errorf("%s is in namespace %q with the annotations %v", key(o), o.GetNamespace(), o.GetAnnotations())
		}
	}
	all := render(t, "helm", "--set", "metrics.dashboards.enabled=true")
	check(one(t, all, "ConfigMap", "boardwalk-dashboard-api"), "", map[string]string{"grafana_dashboard": "1"}, map[string]string{"grafana_folder": "Boardwalk"})
	all = render(t, "helm", "--set", "metrics.dashboards.enabled=true,metrics.dashboards.folder=,metrics.dashboards.namespace=monitoring",
		"--set", "metrics.dashboards.grafanaOperator.enabled=true")
	check(one(t, all, "ConfigMap", "boardwalk-dashboard-api"), "monitoring", map[string]string{"grafana_dashboard": "1"}, nil)
	check(one(t, all, "GrafanaDashboard", "boardwalk-dashboard-api"), "monitoring", nil, nil)
	all = render(t, "helm", "-f", filepath.Join(chart, "ci", "everything.yaml"))
	o := one(t, all, "ConfigMap", "markets-dashboard-chain")
	check(o, "", map[string]string{"example.com/dashboard": "yes", "team": "markets"},
		map[string]string{"grafana_folder": "Markets", "example.com/owner": "platform", "example.com/note": "common"})
	want := map[string]any{
		"folder": "Markets", "allowCrossNamespaceImport": true,
		"instanceSelector": map[string]any{"matchLabels": map[string]any{"grafana": "markets"}},
		"configMapRef":     map[string]any{"name": o.GetName(), "key": "boardwalk-chain.json"},
	}
	if g := one(t, all, "GrafanaDashboard", "markets-dashboard-chain"); !reflect.DeepEqual(at(g, "spec"), want) {
		t.Errorf("%s: %v, wanted %v", key(g), at(g, "spec"), want)
	}
}
