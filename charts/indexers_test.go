package charts_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// indexersFile is the operator's file of a rendered chart, or of config.
func indexersFile(t *testing.T, all []*unstructured.Unstructured) workload.Indexers {
	t.Helper()
	for _, o := range all {
		if o.GetKind() != "ConfigMap" || !strings.HasSuffix(o.GetName(), "-operator-indexers") {
			continue
		}
		text, _, err := unstructured.NestedString(o.Object, "data", "indexers.yaml")
		if err != nil {
			t.Fatal(err)
		}
		x, err := workload.ParseIndexers([]byte(text))
		if err != nil {
			t.Fatalf("the operator can't read its file: %v\n%s", err, text)
		}
		return x
	}
	t.Fatal("there is no file of the operator")
	return workload.Indexers{}
}

// TestIndexersOfTheChart: the operator reads what the chart writes for it, and no value is lost on the way.
func TestIndexersOfTheChart(t *testing.T) {
	t.Parallel()
	for _, values := range valuesFiles(t) {
		x := indexersFile(t, render(t, "helm", "-f", values))
		if x.Instance != "boardwalk" || x.Version == "" || x.ImagePullPolicy == "" || x.NetworkPolicy == nil || x.RunAsUser == nil {
			t.Errorf("%s: %+v lacks what always is there", values, x)
		}
		if !strings.HasSuffix(values, "everything.yaml") {
			continue
		}
		fields := reflect.ValueOf(x)
		for i := range fields.NumField() {
			if fields.Field(i).IsZero() {
				t.Errorf("%s sets every value, and the operator's file lacks %s", filepath.Base(values), fields.Type().Field(i).Name)
			}
		}
	}
	x := indexersFile(t, render(t, "helm", "--set", "runAsUser=null", "--set", "networkPolicy.enabled=false"))
	if x.RunAsUser != nil || *x.NetworkPolicy {
		t.Errorf("without a user and policies the operator's file has %v and %v", x.RunAsUser, *x.NetworkPolicy)
	}
}

// TestCABundleIsEverywhere: each program but the renderer, which has no network, trusts a company's own authorities.
func TestCABundleIsEverywhere(t *testing.T) {
	t.Parallel()
	for field, kind := range map[string]string{"configMap": "configMap", "secret": "secret"} {
		all := render(t, "helm", "-f", filepath.Join(chart, "ci", "everything.yaml"), "--set", "caBundle.configMap=", "--set", "caBundle."+field+"=company")
		found := 0
		for _, o := range all {
			pod, ok := template(o)
			if !ok || o.GetKind() == "StatefulSet" || strings.HasSuffix(o.GetName(), "-uninstall") {
				continue
			}
			found++
			volumes, _ := at(pod, "spec", "volumes").([]any)
			var source map[string]any
			for _, v := range volumes {
				if v, _ := v.(map[string]any); v["name"] == "ca" {
					source, _ = v[kind].(map[string]any)
				}
			}
			if source == nil || source["optional"] != true || source["name"] != "company" && source["secretName"] != "company" {
				t.Errorf("%s has the certificates from %v", key(o), source)
			}
			name := pod.GetLabels()["app.kubernetes.io/component"]
			if name == "migration" {
				name = "migrate"
			}
			if env := container(t, pod, name).Object["env"]; !strings.Contains(fmt.Sprint(env), "BOARDWALK_CA_FILE") {
				t.Errorf("%s isn't told where the certificates are: %v", key(o), env)
			}
		}
		if found != 4 {
			t.Errorf("%d programs were looked at, want operator, API server, members and migration", found)
		}
	}
}
