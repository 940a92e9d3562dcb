package charts_test

import (
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// podMonitor is what of a PodMonitor decides which pods are collected, and under which labels.
type podMonitor struct {
	Spec struct {
		Selector            metav1.LabelSelector `json:"selector"`
		PodTargetLabels     []string             `json:"podTargetLabels"`
		PodMetricsEndpoints []struct {
			Port        string       `json:"port"`
			Relabelings []relabeling `json:"relabelings"`
		} `json:"podMetricsEndpoints"`
	} `json:"spec"`
}

// targets are what Prometheus collects of the pods that objects make, with the labels that it gives all metrics of each.
func (m *podMonitor) targets(t *testing.T, objects []*unstructured.Unstructured) (out []map[string]string) {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(&m.Spec.Selector)
	if err != nil {
		t.Fatal(err)
	}
	notInNames := regexp.MustCompile(`[^a-zA-Z0-9_]`)
	for _, o := range objects {
		pod, ok := template(o)
		if !ok || !selector.Matches(labels.Set(pod.GetLabels())) {
			continue
		}
		for _, e := range m.Spec.PodMetricsEndpoints {
			for _, c := range containers(t, pod) {
				ports, _ := c["ports"].([]any)
				for _, p := range ports {
					if port, _ := p.(map[string]any); port["name"] != e.Port {
						continue
					}
					target := map[string]string{"job": "boardwalk/boardwalk", "endpoint": e.Port}
					for name, value := range pod.GetLabels() {
						target["__meta_kubernetes_pod_label_"+notInNames.ReplaceAllString(name, "_")] = value
					}
					for _, l := range m.Spec.PodTargetLabels {
						if value := pod.GetLabels()[l]; value != "" {
							target[notInNames.ReplaceAllString(l, "_")] = value
						}
					}
					for i := range e.Relabelings {
						e.Relabelings[i].become(t, target)
					}
					out = append(out, target)
				}
			}
		}
	}
	return out
}

// told is what alerts and dashboards see of targets, a line each.
func told(targets []map[string]string) (lines []string) {
	for _, target := range targets {
		var line []string
		for name, value := range target {
			if !strings.HasPrefix(name, "__") {
				line = append(line, name+"="+value)
			}
		}
		slices.Sort(line)
		lines = append(lines, strings.Join(line, " "))
	}
	slices.Sort(lines)
	return lines
}

// TestThePodMonitorCollectsTheSame as the ServiceMonitor, under the same labels, with members and the renderer. A trial of settings serves no metrics.
func TestThePodMonitorCollectsTheSame(t *testing.T) {
	t.Parallel()
	const services, pods = "metrics.serviceMonitor.enabled=true,metrics.podMonitor.enabled=false", "metrics.serviceMonitor.enabled=false,metrics.podMonitor.enabled=true"
	values := filepath.Join(chart, "ci", "everything.yaml")
	var m serviceMonitor
	all := render(t, "helm", "-f", values, "--set", services)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(one(t, all, "ServiceMonitor", "markets").Object, &m); err != nil {
		t.Fatal(err)
	}
	var want []map[string]string
	for _, target := range m.targets(t, append(all, indexerService(t, "base"), indexerService(t, "bsc"))) {
		want = append(want, target)
	}
	var p podMonitor
	all = render(t, "helm", "-f", values, "--set", pods)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(one(t, all, "PodMonitor", "markets").Object, &p); err != nil {
		t.Fatal(err)
	}
	trial := unstructuredOf(t, workload.BuildTrial("boardwalk", workload.Settings{}).Job)
	got := told(p.targets(t, append(all, unstructuredOf(t, indexerObjects(t, "base").Deployment), unstructuredOf(t, indexerObjects(t, "bsc").Deployment), trial)))
	if !reflect.DeepEqual(got, told(want)) || len(got) != 6 {
		t.Errorf("the PodMonitor collects\n%s\nwanted what the ServiceMonitor does, of six programs,\n%s", strings.Join(got, "\n"), strings.Join(told(want), "\n"))
	}
}
