package v1alpha1_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
)

// table is what the server draws for kubectl.
type table struct {
	ColumnDefinitions []struct {
		Name     string
		Type     string
		Priority int
	}
	Rows []struct{ Cells []any }
}

// columns are the names in order, those of -o wide with a + in front.
func (t *table) columns() (out []string) {
	for _, c := range t.ColumnDefinitions {
		name := c.Name
		if c.Priority > 0 {
			name = "+" + name
		}
		out = append(out, name)
	}
	return out
}

// row gives an object's cells by their columns, without its age.
func (t *table) row(name string) map[string]any {
	for _, r := range t.Rows {
		if r.Cells[0] != name {
			continue
		}
		out := map[string]any{}
		for i, c := range t.ColumnDefinitions {
			if c.Name != "Name" && c.Name != "Age" {
				out[c.Name] = r.Cells[i]
			}
		}
		return out
	}
	return nil
}

func TestColumns(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	for _, m := range []string{resolvetest.Good, resolvetest.GoodSolana, resolvetest.GoodVenue, resolvetest.GoodOwnVenue} {
		must(t, nil, http.MethodPost, pathOf(namespace, plural(m)), asYAML, m)
	}
	must(t, nil, http.MethodPatch, pathOf(namespace, chains, "/base/status"), asPatch, fmt.Sprintf(
		`{"status": {"observedGeneration": 1, "lag": "<2m", "conditions": %s}}`, ready("False", "CatchingUp", "it reads the past")))
	must(t, nil, http.MethodPatch, pathOf(namespace, venues, "/four-meme/status"), asPatch, fmt.Sprintf(
		`{"status": {"observedGeneration": 1, "open": "1/2", "closedOn": "bsc (WantedClosed)", "conditions": %s,
		  "chains": [{"chain": "base", "state": "Open", "reason": "Open", "lastTransitionTime": "2026-01-02T03:04:05Z"}]}}`,
		ready("True", "Open", "it is open")))
	tests := []struct {
		resource string
		columns  []string
		rows     map[string]map[string]any
	}{
		{
			chains,
			[]string{"Name", "ID", "Family", "+Chain ID", "Ready", "Reason", "Lag", "+Suspended", "+Message", "Age"},
			map[string]map[string]any{
				"base": {
					"ID": "base", "Family": "EVM", "Chain ID": 8453.0, "Ready": "False", "Reason": "CatchingUp", "Lag": "<2m",
					"Suspended": false, "Message": "it reads the past",
				},
				"solana": {
					"ID": "solana", "Family": "Solana", "Chain ID": nil, "Ready": "", "Reason": "", "Lag": "",
					"Suspended": true, "Message": "",
				},
			},
		},
		{
			venues,
			[]string{"Name", "ID", "Ownership", "Protocol", "Open", "Closed on", "+Default", "+Message", "Age"},
			map[string]map[string]any{
				"four-meme": {
					"ID": "four-meme", "Ownership": "Outside", "Protocol": "FourMemeV2", "Open": "1/2", "Closed on": "bsc (WantedClosed)",
					"Default": nil, "Message": "it is open",
				},
				"boardwalk-dbc": {
					"ID": "boardwalk-dbc", "Ownership": "Own", "Protocol": "MeteoraDBC", "Open": "", "Closed on": "", "Default": true, "Message": "",
				},
			},
		},
	}
	for _, tt := range tests {
		var got table
		must(t, &got, http.MethodGet, pathOf(namespace, tt.resource), asYAML, "", "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
		if columns := got.columns(); !slices.Equal(columns, tt.columns) {
			t.Errorf("%s: columns %q\nwant %q", tt.resource, columns, tt.columns)
		}
		for name, want := range tt.rows {
			row := got.row(name)
			for column, cell := range row {
				if cell == nil && want[column] == "" {
					row[column] = ""
				}
			}
			if !reflect.DeepEqual(row, want) {
				t.Errorf("%s %s: got %v\nwant %v", tt.resource, name, row, want)
			}
		}
	}
}

// What people type.
func TestKubectl(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	must(t, nil, http.MethodPost, pathOf(namespace, chains), asYAML, strings.Replace(resolvetest.Good, "name: base", "name: one", 1))
	must(t, nil, http.MethodPost, pathOf(namespace, venues), asYAML, strings.Replace(resolvetest.GoodVenue, "name: four-meme", "name: two", 1))
	program, err := kubetest.Tool(t.Context(), "kubectl")
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	const both = "chain.boardwalk.dev/one\nlaunchvenue.boardwalk.dev/two\n"
	for _, tt := range []struct{ args, want string }{
		{"get bwc -o name", "chain.boardwalk.dev/one\n"},
		{"get bwv -o name", "launchvenue.boardwalk.dev/two\n"},
		{"get chains,launchvenues -o name", both},
		{"get boardwalk -o name", both},
		{"get chain one", "NAME   ID     FAMILY   READY   REASON   LAG   AGE\none    base   EVM "},
		{"get launchvenue two", "NAME   ID          OWNERSHIP   PROTOCOL     OPEN   CLOSED ON   AGE\ntwo    four-meme   Outside     FourMemeV2"},
		{"explain chain.spec.minTradeUSD", "MinTradeUSD is the value of the smallest trade that the platform offers"},
	} {
		args := append([]string{"--kubeconfig", cluster.Kubeconfig, "--cache-dir", cache, "--namespace", namespace}, strings.Fields(tt.args)...)
		out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("kubectl %s: %v\n%s\nwant in it: %s", tt.args, err, out, tt.want)
		}
	}
}
