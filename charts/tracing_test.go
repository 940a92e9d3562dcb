package charts_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestTracingReachesEachProgram: the values of tracing are the variables of OpenTelemetry of each program, those of the indexers in the operator's file. A variable
// that a program's extraEnv has is there once, and the network policies let the collector's port out.
func TestTracingReachesEachProgram(t *testing.T) {
	t.Parallel()
	all := render(t, "helm", "-f", filepath.Join(chart, "ci", "everything.yaml"), "--set", "indexers.extraEnv[0].name=OTEL_TRACES_SAMPLER",
		"--set", "indexers.extraEnv[0].value=always_on")
	want := map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example.com:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
		"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.05",
	}
	for _, program := range []string{"operator", "apiserver", "members"} {
		pod, ok := template(one(t, all, "Deployment", "markets-"+program))
		if !ok {
			t.Fatal(program, "has no pod")
		}
		checkVariables(t, program, environment(t, container(t, pod, program).Object["env"]), want)
		policy := document(t, one(t, all, "NetworkPolicy", "markets-"+program))
		if strings.Count(policy, `"port":4317`) < 2 { // the other one is that of extraEgress
			t.Errorf("the policy of %s doesn't let the collector's port out:\n%s", program, policy)
		}
	}
	pod, _ := template(one(t, all, "Deployment", "markets-apiserver"))
	containers, _ := at(pod, "spec", "initContainers").([]any)
	found := false
	for _, c := range containers {
		if c, _ := c.(map[string]any); c["name"] == "renderer" {
			found = true
			checkVariables(t, "renderer", environment(t, c["env"]), want)
		}
	}
	if !found {
		t.Error("there is no renderer")
	}
	got := map[string]string{}
	for _, e := range indexersFile(t, all).Env {
		if e.Value != nil {
			got[*e.Name] = *e.Value
		}
	}
	own := maps.Clone(want)
	own["OTEL_TRACES_SAMPLER"] = "always_on"
	checkVariables(t, "the indexers", got, own)
}

// TestNoTracingByDefault: no variable and no rule is there for it.
func TestNoTracingByDefault(t *testing.T) {
	t.Parallel()
	for _, o := range render(t, "helm", "--set", "tracing.sampler=always_on") {
		if text := document(t, o); strings.Contains(text, "OTEL_") {
			t.Errorf("%s has variables of traces:\n%s", key(o), text)
		}
	}
}

// TestPortOfTheCollector is that of the address, or the scheme's.
func TestPortOfTheCollector(t *testing.T) {
	t.Parallel()
	for endpoint, port := range map[string]string{
		"http://collector:9999/path": "9999", "http://collector": "80", "https://collector": "443", "http://[2001:db8::1]:4318": "4318", "https://[2001:db8::1]": "443",
	} {
		policy := one(t, render(t, "helm", "--set", "tracing.endpoint="+endpoint), "NetworkPolicy", "boardwalk-operator")
		rules, _, err := unstructured.NestedSlice(policy.Object, "spec", "egress")
		if err != nil {
			t.Fatal(err)
		}
		if last := fmt.Sprint(rules[len(rules)-1]); last != "map[ports:[map[port:"+port+" protocol:TCP]]]" {
			t.Errorf("%s: the last rule is %s, want port %s", endpoint, last, port)
		}
	}
}

func environment(t *testing.T, env any) map[string]string {
	t.Helper()
	out := map[string]string{}
	list, _ := env.([]any)
	for _, v := range list {
		v, _ := v.(map[string]any)
		name := fmt.Sprint(v["name"])
		if _, twice := out[name]; twice {
			t.Errorf("%s is there twice", name)
		}
		out[name] = fmt.Sprint(v["value"])
	}
	return out
}

func checkVariables(t *testing.T, program string, got, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s of %s is %q, want %q", name, program, got[name], value)
		}
	}
}
