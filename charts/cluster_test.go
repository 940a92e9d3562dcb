package charts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/boardwalkhq/boardwalk/internal/kubetest"
	"github.com/boardwalkhq/boardwalk/operator/controller"
)

// cluster is started by the first test that wants it. Custom resource definitions belong to all of it, so that the tests
// that use it don't run at once.
var cluster = sync.OnceValues(func() (*kubetest.Cluster, error) {
	c, err := kubetest.Start(context.Background(), kubetest.Options{CRDs: []string{"testdata/servicemonitors.yaml", "testdata/httproutes.yaml"}})
	if err != nil {
		return nil, err
	}
	running = c
	return c, c.StartControllers(context.Background(), 1)
})

var running *kubetest.Cluster

func TestMain(m *testing.M) {
	m.Run()
	if running != nil {
		running.Stop()
	}
}

// server is the cluster with a namespace of the test's own that refuses pods which aren't restricted.
type server struct {
	*kubetest.Cluster

	namespace string
}

func onServer(t *testing.T) *server {
	t.Helper()
	c, err := cluster()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Cluster: c, namespace: c.Namespace(t)}
	s.kubectl(t, "", "label", "namespace", s.namespace, "pod-security.kubernetes.io/enforce=restricted", "pod-security.kubernetes.io/warn=restricted")
	return s
}

// try runs kubectl in the test's namespace.
func (s *server) try(t *testing.T, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	return run(t.Context(), t, s.Kubeconfig, stdin, "kubectl", append([]string{"-n", s.namespace}, args...)...)
}

func (s *server) kubectl(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	stdout, stderr, err := s.try(t, stdin, args...)
	if err != nil {
		t.Fatal(err)
	}
	if said := withoutEndOfWatch(stderr); said != "" {
		t.Errorf("kubectl %s says: %s", strings.Join(args, " "), said)
	}
	return stdout
}

// ofItself is what Helm may say as it ends, when the watch by which it waited ends with it: it warns of nothing in the chart.
var ofItself = regexp.MustCompile(`(?m)^\S+ \S+ +\d+ reflector\.go:\d+\] "Warning: watch ended with error" .*context canceled.*\n?`)

func (s *server) helm(t *testing.T, helm string, args ...string) string {
	t.Helper()
	stdout, stderr, err := run(t.Context(), t, s.Kubeconfig, "", helm, append([]string{"-n", s.namespace}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	// Helm 4 tells of hidden and cached things on its second output; a warning of the server would be there as well.
	if strings.Contains(strings.ToLower(ofItself.ReplaceAllString(stderr, "")), "warning") {
		t.Errorf("%s %s says: %s", helm, strings.Join(args, " "), stderr)
	}
	return stdout
}

func document(t *testing.T, o *unstructured.Unstructured) string {
	t.Helper()
	raw, err := json.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// accept asks the server about objects, as it would at their creation: schemas, CEL rules, admission, and nothing unknown in
// them. Pods are made of the templates, since the Pod Security Standard refuses pods alone. Nothing is left behind.
func (s *server) accept(t *testing.T, what string, all []*unstructured.Unstructured) {
	t.Helper()
	for _, o := range all {
		if _, stderr, err := s.try(t, document(t, o), "apply", "--dry-run=server", "--validate=strict", "-f", "-"); err != nil || stderr != "" {
			t.Errorf("%s: %s is not accepted as it is: %v %s", what, key(o), err, stderr)
		}
	}
	for _, o := range all { // pods need them
		if o.GetKind() == "ServiceAccount" {
			free := o.DeepCopy()
			free.SetOwnerReferences(nil) // its Chain isn't there: the garbage collector deletes it once it knows that kind
			s.kubectl(t, document(t, free), "apply", "-f", "-")
		}
	}
	for _, o := range all {
		pod, ok := template(o)
		if !ok {
			continue
		}
		if o.GetKind() == "StatefulSet" {
			claimed(pod)
		}
		if _, stderr, err := s.try(t, document(t, pod), "apply", "--dry-run=server", "--validate=strict", "-f", "-"); err != nil || stderr != "" {
			t.Errorf("%s: a pod of %s is not accepted: %v %s", what, key(o), err, stderr)
		}
	}
}

// claimed gives a pod the volume that a StatefulSet's controller would.
func claimed(pod *unstructured.Unstructured) {
	volumes, _ := at(pod, "spec", "volumes").([]any)
	for _, v := range volumes {
		if m, _ := v.(map[string]any); m["name"] == "data" {
			return
		}
	}
	spec, _ := pod.Object["spec"].(map[string]any)
	spec["volumes"] = append(volumes, map[string]any{"name": "data", "persistentVolumeClaim": map[string]any{"claimName": "data"}})
}

func TestServerAcceptsEverything(t *testing.T) {
	s := onServer(t)
	s.kubectl(t, "", "create", "priorityclass", "markets", "--value=1000")
	t.Cleanup(func() { s.discard(t, "priorityclass", "markets") })
	for _, values := range valuesFiles(t) {
		s.accept(t, values, render(t, "helm", "-f", values))
	}
	// It would not accept just anything.
	loose := `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "loose"}, "spec": {"containers": [{"name": "a", "image": "a"}]}}`
	if _, _, err := s.try(t, loose, "apply", "--dry-run=server", "-f", "-"); err == nil || !strings.Contains(err.Error(), "violates PodSecurity") {
		t.Errorf("a pod that isn't restricted: %v", err)
	}
}

// withoutEndOfWatch leaves out what kubectl sometimes says of its own watch, which it ends as soon as what it waits for is so.
func withoutEndOfWatch(stderr string) string {
	var kept strings.Builder
	for line := range strings.Lines(stderr) {
		if !strings.Contains(line, "unable to decode an event from the watch stream: context canceled") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// TestInstallUpgradeRollBackUninstall with each Helm: what a release's life does to passwords, definitions and chains.
func TestInstallUpgradeRollBackUninstall(t *testing.T) {
	for _, helm := range helms {
		t.Run(helm, func(t *testing.T) {
			s := onServer(t)
			t.Cleanup(func() { // the next one installs its own
				s.discard(t, "customresourcedefinition", "chains.boardwalk.dev", "launchvenues.boardwalk.dev")
			})
			s.life(t, helm)
			s.another(t, helm)
		})
	}
}

func (s *server) life(t *testing.T, helm string) {
	t.Helper()
	s.volume(t)
	notes := s.helm(t, helm, "install", "boardwalk", chart, "--wait", "--timeout", "3m")
	uri := s.secret(t)
	made, _, _ := strings.Cut(strings.TrimPrefix(uri, "postgresql://boardwalk:"), "@")
	for _, part := range []string{
		"EVALUATION DATABASE", "kubectl -n " + s.namespace + " wait deployment", "kubectl -n " + s.namespace + " apply -f config/samples",
		"kubectl -n " + s.namespace + " get chains,launchvenues", "port-forward service/boardwalk-apiserver 8080:80",
		"curl http://localhost:8080/api/launch/status",
	} {
		if !strings.Contains(notes, part) {
			t.Errorf("the notes lack %q:\n%s", part, notes)
		}
	}
	if strings.Contains(notes, made) {
		t.Errorf("the notes have the password")
	}
	s.rules(t)
	s.kubectl(t, "", "apply", "-f", "../config/samples/02-base.yaml")
	first := s.migration(t)

	s.helm(t, helm, "upgrade", "boardwalk", changed(t), "--set", "apiserver.replicas=3", "--wait", "--timeout", "3m")
	if got := s.kubectl(t, "", "get", "deployment", "boardwalk-apiserver", "-o", "jsonpath={.spec.replicas}"); got != "3" {
		t.Errorf("%s API servers after an upgrade to 3", got)
	}
	if got := s.kubectl(t, "", "get", "crd", "chains.boardwalk.dev", "-o", "jsonpath={.spec.names.shortNames}"); !strings.Contains(got, "newer") {
		t.Errorf("the upgrade left the definition of chains as it was: short names %s", got)
	}
	if s.secret(t) != uri {
		t.Errorf("the upgrade made another password")
	}
	if second := s.migration(t); second == first {
		t.Errorf("the upgrade left the schema to the Job of the revision before")
	}
	// Another database takes the evaluation one's place, whose claim stays; going back brings it back with its password.
	s.helm(t, helm, "upgrade", "boardwalk", chart, "--set", "database.evaluation.enabled=false,database.existingSecret.name=db")
	left := s.kubectl(t, "", "get", "statefulsets,secrets,persistentvolumeclaims", "-o", "name")
	if !strings.Contains(left, "persistentvolumeclaim/data-boardwalk-evaluation-db-0") || strings.Contains(left, "/boardwalk-evaluation-db\n") {
		t.Errorf("with another database there are %q", left)
	}
	s.helm(t, helm, "rollback", "boardwalk", "1")
	s.migration(t)
	if s.secret(t) != uri {
		t.Errorf("the rollback made another password")
	}
	if got := s.kubectl(t, "", "get", "deployment", "boardwalk-apiserver", "-o", "jsonpath={.spec.replicas}"); got != "1" {
		t.Errorf("%s API servers after a rollback to 1", got)
	}

	s.helm(t, helm, "uninstall", "boardwalk", "--wait", "--timeout", "3m")
	left = s.kubectl(t, "", "get", "deployments,statefulsets,services,jobs,configmaps,secrets,serviceaccounts,roles,rolebindings,"+
		"networkpolicies,poddisruptionbudgets,persistentvolumeclaims,chains,launchvenues", "-o", "name")
	want := []string{
		"configmap/kube-root-ca.crt", "serviceaccount/default", // every namespace has them
		"persistentvolumeclaim/data-boardwalk-evaluation-db-0", "chain.boardwalk.dev/base",
	}
	if got := strings.Fields(left); !slices.Equal(got, want) {
		t.Errorf("left behind is %q, wanted %q", got, want)
	}
}

// migration is the one Job that makes the schema, when it has ended well.
func (s *server) migration(t *testing.T) string {
	t.Helper()
	const selector = "app.kubernetes.io/component=migration"
	s.kubectl(t, "", "wait", "job", "-l", selector, "--for=condition=Complete", "--timeout=1m")
	names := strings.Fields(s.kubectl(t, "", "get", "jobs", "-l", selector, "-o", "name"))
	if len(names) != 1 {
		t.Errorf("%d Jobs make the schema: %q", len(names), names)
	}
	return names[0]
}

// discard deletes what belongs to no namespace, at the end of a test.
func (s *server) discard(t *testing.T, kind string, names ...string) {
	t.Helper()
	// A volume goes when its claim does, with the namespace; the next test's definitions wait for these to be gone.
	args := append([]string{"delete", fmt.Sprintf("--wait=%t", kind != "persistentvolume"), kind}, names...)
	if _, _, err := run(context.WithoutCancel(t.Context()), t, s.Kubeconfig, "", "kubectl", args...); err != nil {
		t.Error(err)
	}
}

// volume makes one that the evaluation database's claim is bound to.
func (s *server) volume(t *testing.T) {
	t.Helper()
	name := "of-" + s.namespace
	t.Cleanup(func() { s.discard(t, "persistentvolume", name) })
	s.kubectl(t, `{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "`+name+`"}, "spec": {"capacity": {"storage": "10Gi"},
		"accessModes": ["ReadWriteOnce"], "claimRef": {"namespace": "`+s.namespace+`", "name": "data-boardwalk-evaluation-db-0"},
		"hostPath": {"path": "/none"}}}`, "apply", "-f", "-")
}

// another release of the same cluster: the definitions are the first one's.
func (s *server) another(t *testing.T, helm string) {
	t.Helper()
	other := onServer(t)
	_, _, err := run(t.Context(), t, s.Kubeconfig, "", helm, "-n", other.namespace, "install", "boardwalk", chart)
	if err == nil || !strings.Contains(err.Error(), "invalid ownership metadata") {
		t.Errorf("a second release takes the first one's definitions: %v", err)
	}
	_, _, _ = run(t.Context(), t, s.Kubeconfig, "", helm, "-n", other.namespace, "uninstall", "boardwalk", "--ignore-not-found") // helm 3 notes the failed one
	other.helm(t, helm, "install", "boardwalk", chart, "--set", "crds.install=false")
	other.helm(t, helm, "uninstall", "boardwalk")
	other.helm(t, helm, "install", "boardwalk", chart, "--take-ownership")
	other.helm(t, helm, "uninstall", "boardwalk")
}

// TestUninstallMayEndIndexers: the rights of the Job that runs at the end are enough for what it does, and that is no more
// than ending indexers.
func TestUninstallMayEndIndexers(t *testing.T) {
	s := onServer(t)
	for _, o := range render(t, "helm") {
		if o.GetName() != "boardwalk-uninstall" || o.GetKind() == "Job" {
			continue
		}
		if subjects, ok := o.Object["subjects"].([]any); ok {
			subject, _ := subjects[0].(map[string]any)
			subject["namespace"] = s.namespace
		}
		s.kubectl(t, document(t, o), "apply", "-f", "-")
	}
	for name, labels := range map[string]string{
		"boardwalk-indexer-base": `{"app.kubernetes.io/component": "indexer", "app.kubernetes.io/managed-by": "boardwalk-operator"}`,
		"another":                `{"app.kubernetes.io/component": "indexer", "app.kubernetes.io/managed-by": "somebody"}`,
	} {
		for header, spec := range map[string]string{
			`"apiVersion": "v1", "kind": "ConfigMap"`:                       "",
			`"apiVersion": "v1", "kind": "ServiceAccount"`:                  "",
			`"apiVersion": "v1", "kind": "Service"`:                         `"clusterIP": "None", "ports": [{"port": 8081}]`,
			`"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy"`: `"podSelector": {"matchLabels": {"a": "b"}}`,
			`"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"`:      `"maxUnavailable": 1`,
			`"apiVersion": "apps/v1", "kind": "Deployment"`: `"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": {
				"metadata": {"labels": {"a": "b"}}, "spec": {"securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
				"containers": [{"name": "a", "image": "a",
				"securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}]}}`,
		} {
			object := `{` + header + `, "metadata": {"name": "` + name + `", "labels": ` + labels + `}`
			if spec != "" {
				object += `, "spec": {` + spec + `}`
			}
			s.kubectl(t, object+"}", "apply", "-f", "-")
		}
	}
	job, err := s.ServiceAccount(t.Context(), s.namespace, "boardwalk-uninstall")
	if err != nil {
		t.Fatal(err)
	}
	if err := controller.RemoveIndexers(t.Context(), job, s.namespace, ""); err != nil {
		t.Fatal(err)
	}
	left := strings.Fields(s.kubectl(t, "", "get", "configmaps,serviceaccounts,services,networkpolicies,poddisruptionbudgets,deployments", "-o", "name"))
	left = slices.DeleteFunc(left, func(name string) bool {
		return !strings.Contains(name, "another") && !strings.Contains(name, "indexer")
	})
	if want := []string{
		"configmap/another", "serviceaccount/another", "service/another", "networkpolicy.networking.k8s.io/another",
		"poddisruptionbudget.policy/another", "deployment.apps/another",
	}; !slices.Equal(left, want) {
		t.Errorf("left are %q, wanted %q", left, want)
	}
}

// secret is the evaluation database's address.
func (s *server) secret(t *testing.T) string {
	t.Helper()
	return s.kubectl(t, "", "get", "secret", "boardwalk-evaluation-db", "-o", "go-template={{.data.uri | base64decode}}")
}

// rules asks the server what the service accounts may do.
func (s *server) rules(t *testing.T) {
	t.Helper()
	s.kubectl(t, "", "create", "rolebinding", "editors", "--clusterrole=edit", "--user=jane")
	s.kubectl(t, "", "create", "rolebinding", "viewers", "--clusterrole=view", "--user=joe")
	for user, may := range map[string]map[string]string{
		"jane": {"create chains.boardwalk.dev": "yes", "delete launchvenues.boardwalk.dev": "yes", "get chains.boardwalk.dev": "yes", "patch chains.boardwalk.dev/status": "no"},
		"joe":  {"list chains.boardwalk.dev": "yes", "create chains.boardwalk.dev": "no"},
	} {
		for what, want := range may {
			verb, resource, _ := strings.Cut(what, " ")
			resource, subresource, _ := strings.Cut(resource, "/")
			got, _, _ := run(t.Context(), t, s.Kubeconfig, "", "kubectl", "auth", "can-i", verb, resource, "--subresource="+subresource, "-n", s.namespace, "--as="+user)
			if strings.TrimSpace(got) != want {
				t.Errorf("may %s %s with a role of Kubernetes' own? %q, wanted %s", user, what, got, want)
			}
		}
	}
	s.kubectl(t, "", "delete", "rolebinding", "editors", "viewers")
	for _, c := range []struct {
		account, namespace, verbs, resource string
		may                                 bool
	}{
		{"operator", s.namespace, "list watch", "chains.boardwalk.dev", true},
		{"operator", s.namespace, "patch", "launchvenues.boardwalk.dev/status", true},
		{"operator", s.namespace, "create patch list watch", "deployments.apps", true},
		{"operator", s.namespace, "get create update", "leases.coordination.k8s.io", true},
		{"operator", s.namespace, "create patch update delete", "chains.boardwalk.dev", false},
		{"operator", s.namespace, "update delete deletecollection", "deployments.apps", false},
		{"operator", s.namespace, "get list watch create", "secrets", false},
		{"operator", s.namespace, "get list watch", "pods", true},
		{"operator", s.namespace, "create patch update delete", "pods", false},
		{"operator", s.namespace, "delete", "networkpolicies.networking.k8s.io", true},
		{"operator", s.namespace, "create patch", "roles.rbac.authorization.k8s.io", false},
		{"operator", "default", "get list create", "chains.boardwalk.dev", false},
		{"operator", "default", "list create", "deployments.apps", false},
		{"apiserver", s.namespace, "list watch", "chains.boardwalk.dev", true},
		{"apiserver", s.namespace, "list watch", "launchvenues.boardwalk.dev", true},
		{"apiserver", s.namespace, "patch update create delete", "launchvenues.boardwalk.dev", false},
		{"apiserver", s.namespace, "get list", "configmaps", false},
		{"apiserver", s.namespace, "get list", "secrets", false},
		{"apiserver", "default", "list", "chains.boardwalk.dev", false},
	} {
		resource, subresource, _ := strings.Cut(c.resource, "/")
		for verb := range strings.FieldsSeq(c.verbs) {
			got, _, _ := run(t.Context(), t, s.Kubeconfig, "", "kubectl", "auth", "can-i", verb, resource, "--subresource="+subresource, // says no by its exit code
				"-n", c.namespace, "--as=system:serviceaccount:"+s.namespace+":boardwalk-"+c.account)
			if want := map[bool]string{true: "yes", false: "no"}[c.may]; strings.TrimSpace(got) != want {
				t.Errorf("may the %s %s %s in %s? %q, wanted %s", c.account, verb, c.resource, c.namespace, got, want)
			}
		}
	}
}

// changed is the chart with a newer definition of chains: they have another short name.
func changed(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), chart)
	if err := os.CopyFS(dir, os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "files", "crds", "boardwalk.dev_chains.yaml")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	definition := objects(t, string(raw))[0]
	names, _, err := unstructured.NestedStringSlice(definition.Object, "spec", "names", "shortNames")
	if err != nil {
		t.Fatal(err)
	}
	const singular = "    singular: chain\n"
	list := "    shortNames:\n    - " + strings.Join(append(names, "newer"), "\n    - ") + "\n"
	text := string(raw)
	if len(names) > 0 {
		before, after, ok := strings.Cut(text, "    shortNames:\n")
		_, after, ok2 := strings.Cut(after, singular)
		if !ok || !ok2 {
			t.Fatalf("%s has its names in another order", file)
		}
		text = before + singular + after
	}
	text = strings.Replace(text, singular, list+singular, 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
