package charts_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// serviceMonitor is what of a ServiceMonitor decides under which job its targets are collected.
type serviceMonitor struct {
	Spec struct {
		Selector metav1.LabelSelector `json:"selector"`
		JobLabel string               `json:"jobLabel"`
		// TargetLabels are labels of a Service that all its metrics get.
		TargetLabels []string `json:"targetLabels"`
		Endpoints    []struct {
			Port        string       `json:"port"`
			Relabelings []relabeling `json:"relabelings"`
		} `json:"endpoints"`
	} `json:"spec"`
}

type relabeling struct {
	SourceLabels []string `json:"sourceLabels"`
	Separator    *string  `json:"separator"`
	TargetLabel  string   `json:"targetLabel"`
	Regex        *string  `json:"regex"`
	Replacement  *string  `json:"replacement"`
	Action       string   `json:"action"`
}

// become is the relabelling of one target, as Prometheus does it.
func (r *relabeling) become(t *testing.T, target map[string]string) {
	t.Helper()
	switch strings.ToLower(r.Action) {
	case "labeldrop":
		maps.DeleteFunc(target, func(label, _ string) bool { return label == *r.Regex })
		return
	case "", "replace":
	default:
		t.Fatalf("a relabelling %q isn't understood here", r.Action)
	}
	or := func(given *string, otherwise string) string {
		if given == nil {
			return otherwise
		}
		return *given
	}
	values := make([]string, len(r.SourceLabels))
	for i, l := range r.SourceLabels {
		values[i] = target[l]
	}
	source := strings.Join(values, or(r.Separator, ";"))
	pattern, err := regexp.Compile("^(?:" + or(r.Regex, "(.*)") + ")$")
	if err != nil {
		t.Fatal(err)
	}
	if at := pattern.FindStringSubmatchIndex(source); at != nil {
		target[r.TargetLabel] = string(pattern.ExpandString(nil, or(r.Replacement, "$1"), source, at))
	}
}

// indexerService is the Service that the operator makes for a chain's indexer.
func indexerService(t *testing.T, id string) *unstructured.Unstructured {
	t.Helper()
	return unstructuredOf(t, indexerObjects(t, id).Service)
}

// indexerObjects are those that the operator makes for a chain.
func indexerObjects(t *testing.T, id string) *workload.Objects {
	t.Helper()
	var c v1alpha1.Chain
	if err := yaml.UnmarshalStrict([]byte(resolvetest.Good), &c); err != nil {
		t.Fatal(err)
	}
	c.Name, c.Spec.ID = id, id
	doc, err := resolve.Chain(&c, nil, workload.SecretDir)
	if err != nil {
		t.Fatal(err)
	}
	o, err := workload.Build(&c, doc, workload.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func unstructuredOf(t *testing.T, object any) *unstructured.Unstructured {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	out := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &out.Object); err != nil {
		t.Fatal(err)
	}
	return out
}

// targets are what Prometheus collects of Services, with the labels that it gives all metrics of each, by the Service's name and port.
func (m *serviceMonitor) targets(t *testing.T, services []*unstructured.Unstructured) map[string]map[string]string {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(&m.Spec.Selector)
	if err != nil {
		t.Fatal(err)
	}
	notInNames := regexp.MustCompile(`[^a-zA-Z0-9_]`)
	out := map[string]map[string]string{}
	for _, s := range services {
		if s.GetKind() != "Service" || !selector.Matches(labels.Set(s.GetLabels())) {
			continue
		}
		ports, _ := at(s, "spec", "ports").([]any)
		for _, e := range m.Spec.Endpoints {
			for _, p := range ports {
				if port, _ := p.(map[string]any); port["name"] != e.Port {
					continue
				}
				target := map[string]string{"job": s.GetName(), "endpoint": e.Port, "__meta_kubernetes_service_name": s.GetName()}
				for name, value := range s.GetLabels() {
					target["__meta_kubernetes_service_label_"+notInNames.ReplaceAllString(name, "_")] = value
				}
				if job := s.GetLabels()[m.Spec.JobLabel]; job != "" {
					target["job"] = job
				}
				for _, l := range m.Spec.TargetLabels {
					if value := s.GetLabels()[l]; value != "" {
						target[notInNames.ReplaceAllString(l, "_")] = value
					}
				}
				for i := range e.Relabelings {
					e.Relabelings[i].become(t, target)
				}
				out[s.GetName()+" "+e.Port] = target
			}
		}
	}
	return out
}

// TestMetricsJobsAreBoardwalks: alerts and dashboards for Kubernetes itself ask for the job "apiserver". A job of ours with that
// name would hide that the Kubernetes API is down.
func TestMetricsJobsAreBoardwalks(t *testing.T) {
	t.Parallel()
	all := render(t, "helm", "--set", "metrics.serviceMonitor.enabled=true")
	var m serviceMonitor
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(one(t, all, "ServiceMonitor", "boardwalk").Object, &m); err != nil {
		t.Fatal(err)
	}
	targets := m.targets(t, append(all, indexerService(t, "base"), indexerService(t, "bsc")))
	for target, want := range map[string]string{
		"boardwalk-apiserver-operations operations": "boardwalk-apiserver", "boardwalk-operator operations": "boardwalk-operator",
		"boardwalk-indexer-base operations": "boardwalk-indexer", "boardwalk-indexer-bsc operations": "boardwalk-indexer",
	} {
		if got := targets[target]["job"]; got != want {
			t.Errorf("the metrics of %s are the job %q, wanted %q", target, got, want)
		}
	}
	for target, has := range targets {
		if !strings.HasPrefix(has["job"], "boardwalk-") {
			t.Errorf("the metrics of %s are the job %q, which may be another system's", target, has["job"])
		}
		if _, ok := has["endpoint"]; ok && strings.HasPrefix(target, "boardwalk-indexer-") {
			t.Errorf("the metrics of %s all have the label endpoint of their port: an indexer's own become exported_endpoint", target)
		}
	}
}
