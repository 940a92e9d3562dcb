package charts_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// TestTheClusterMayChooseUsers: with runAsUser null every pod of the chart and of the operator is let in where no pod may name its user.
func TestTheClusterMayChooseUsers(t *testing.T) {
	t.Parallel()
	s := onServer(t)
	policy, err := os.ReadFile("testdata/nofixedusers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s.kubectl(t, strings.ReplaceAll(string(policy), "NAMESPACE", s.namespace), "apply", "-f", "-")
	t.Cleanup(func() {
		s.discard(t, "validatingadmissionpolicybinding", s.namespace)
		s.discard(t, "validatingadmissionpolicy", s.namespace)
	})
	values := []string{"--namespace", s.namespace, "--set", "members.enabled=true", "--set", "members.tokens.existingSecret.name=intake", "--set", "database.evaluation.runAsUser=null"}
	fixed := render(t, "helm", values...)
	free := render(t, "helm", append(values, "--set", "runAsUser=null")...)
	var refused *unstructured.Unstructured
	for _, o := range fixed {
		if pod, ok := template(o); ok && o.GetName() == "boardwalk-operator" {
			refused = pod
		} else if o.GetKind() == "ServiceAccount" {
			s.kubectl(t, document(t, o), "apply", "-f", "-")
		}
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) { // a policy holds some time after it was made
		if _, stderr, err := s.try(t, document(t, refused), "apply", "--dry-run=server", "-f", "-"); err != nil && strings.Contains(stderr+err.Error(), "the pod names its user") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the policy refuses nothing")
		}
	}
	s.accept(t, "without users", append(free, indexersWithoutUsers(t, s.namespace)...))
}

// indexersWithoutUsers are a Deployment and a trial's Job as the operator makes them.
func indexersWithoutUsers(t *testing.T, namespace string) (out []*unstructured.Unstructured) {
	t.Helper()
	var c v1alpha1.Chain
	if err := yaml.UnmarshalStrict([]byte(resolvetest.Good), &c); err != nil {
		t.Fatal(err)
	}
	c.Namespace, c.UID, c.Spec.Indexer = namespace, "u", v1alpha1.Indexer{}
	doc, err := resolve.Chain(&c, nil, workload.SecretDir)
	if err != nil {
		t.Fatal(err)
	}
	settings := workload.Settings{Image: "boardwalk:0.1.0", DatabaseSecret: "db", DatabaseKey: "uri"}
	o, err := workload.Build(&c, doc, settings)
	if err != nil {
		t.Fatal(err)
	}
	trial := workload.BuildTrial(namespace, settings)
	for _, object := range []any{o.ServiceAccount, o.Deployment, trial.ServiceAccount, trial.Job} {
		raw, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal(raw, &u.Object); err != nil {
			t.Fatal(err)
		}
		out = append(out, u)
	}
	return out
}
