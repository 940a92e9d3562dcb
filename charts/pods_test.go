package charts_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/boardwalkhq/boardwalk/internal/game"
)

// template is the pod template of a workload; ok is false for other objects.
func template(o *unstructured.Unstructured) (pod *unstructured.Unstructured, ok bool) {
	t, ok := at(o, "spec", "template").(map[string]any)
	if !ok {
		return nil, false
	}
	pod = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": t["metadata"], "spec": t["spec"]}}
	pod = pod.DeepCopy()
	pod.SetName(o.GetName())
	return pod, true
}

func containers(t *testing.T, pod *unstructured.Unstructured) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, list := range []string{"initContainers", "containers"} {
		items, _ := at(pod, "spec", list).([]any)
		for _, i := range items {
			c, ok := i.(map[string]any)
			if !ok {
				t.Fatalf("%s: %s has a %T", key(pod), list, i)
			}
			all = append(all, c)
		}
	}
	return all
}

// container is the one of a name.
func container(t *testing.T, pod *unstructured.Unstructured, name string) *unstructured.Unstructured {
	t.Helper()
	for _, c := range containers(t, pod) {
		if c["name"] == name {
			return &unstructured.Unstructured{Object: c}
		}
	}
	t.Fatalf("%s has no container %s", key(pod), name)
	return nil
}

func args(t *testing.T, c *unstructured.Unstructured) []string {
	t.Helper()
	list, _, err := unstructured.NestedStringSlice(c.Object, "args")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestPodsAreRestricted holds what the restricted Pod Security Standard wants of every pod, whatever the values, and a
// root file system that can't be written, which it doesn't want.
func TestPodsAreRestricted(t *testing.T) {
	t.Parallel()
	for _, values := range valuesFiles(t) {
		pods := 0
		for _, o := range render(t, "helm", "-f", values) {
			pod, ok := template(o)
			if !ok {
				continue
			}
			pods++
			where := values + ": " + key(o)
			for path, want := range map[string]any{
				"spec.securityContext.runAsNonRoot":        true,
				"spec.securityContext.seccompProfile.type": "RuntimeDefault",
				"spec.enableServiceLinks":                  false,
				"spec.hostNetwork":                         nil, "spec.hostPID": nil, "spec.hostIPC": nil,
			} {
				if got := at(pod, strings.Split(path, ".")...); got != want {
					t.Errorf("%s: %s is %v, wanted %v", where, path, got, want)
				}
			}
			if user, ok := at(pod, "spec", "securityContext", "runAsUser").(int64); !ok || user == 0 {
				t.Errorf("%s runs as user %d", where, user)
			}
			for _, c := range containers(t, pod) {
				want := map[string]any{
					"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
					"capabilities": map[string]any{"drop": []any{"ALL"}},
				}
				if c["name"] == "renderer" && strings.HasSuffix(values, "everything.yaml") {
					want["seccompProfile"] = map[string]any{"type": "Localhost", "localhostProfile": "boardwalk/renderer.json"}
				}
				if !reflect.DeepEqual(c["securityContext"], want) {
					t.Errorf("%s: container %v has the security context %v, wanted %v", where, c["name"], c["securityContext"], want)
				}
				if c["resources"] == nil {
					t.Errorf("%s: container %v lacks resources", where, c["name"])
				}
				for _, probe := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
					// The API answers without its renderer, which so must not make a pod unready, or its start wait.
					beside := c["name"] == "renderer" && probe != "livenessProbe"
					if (c[probe] == nil) != (o.GetKind() == "Job" || beside || c["name"] == "further") {
						t.Errorf("%s: container %v has the %s %v", where, c["name"], probe, c[probe])
					}
				}
			}
			volumes, _ := at(pod, "spec", "volumes").([]any)
			for _, v := range volumes {
				for kind := range v.(map[string]any) { //nolint:errcheck // a volume is an object
					if !slices.Contains([]string{"name", "configMap", "secret", "emptyDir", "projected"}, kind) {
						t.Errorf("%s has a volume of kind %s", where, kind)
					}
				}
			}
		}
		if pods < 2 {
			t.Errorf("%s renders %d pods", values, pods)
		}
	}
}

// TestOnlyTheAPIServersContainerHasItsToken: a container that is put beside it has none unless it asks for the volume.
func TestOnlyTheAPIServersContainerHasItsToken(t *testing.T) {
	t.Parallel()
	for _, values := range valuesFiles(t) {
		all := render(t, "helm", "-f", values)
		for _, o := range all {
			if o.GetKind() == "ServiceAccount" && o.Object["automountServiceAccountToken"] != false {
				t.Errorf("%s: %s gives its token to every pod", values, key(o))
			}
			pod, ok := template(o)
			if !ok {
				continue
			}
			component := pod.GetLabels()["app.kubernetes.io/component"]
			if got, want := at(pod, "spec", "automountServiceAccountToken"), component == "operator" || component == "uninstall"; got != want {
				t.Errorf("%s: %s: automountServiceAccountToken is %v, wanted %v", values, key(o), got, want)
			}
			const place = "/var/run/secrets/kubernetes.io/serviceaccount"
			for _, c := range containers(t, pod) {
				mounts, _ := c["volumeMounts"].([]any)
				mounted := slices.ContainsFunc(mounts, func(m any) bool {
					return reflect.DeepEqual(m, map[string]any{"name": "kube-api-access", "mountPath": place, "readOnly": true})
				})
				if mounted != (c["name"] == "apiserver") {
					t.Errorf("%s: %s: container %v has the token: %t", values, key(o), c["name"], mounted)
				}
			}
			if component == "apiserver" {
				raw, err := json.Marshal(at(pod, "spec", "volumes"))
				if err != nil {
					t.Fatal(err)
				}
				for _, part := range []string{`"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}`, `"path":"ca.crt"`, `"path":"namespace"`} {
					if !bytes.Contains(raw, []byte(part)) {
						t.Errorf("%s: the API server's volumes lack %s: %s", values, part, raw)
					}
				}
			}
		}
	}
}

// TestSelectorsFind: every Service, policy and budget selects the pods of its component, of this release alone, and the
// operator's pods have what the indexers' network policies let in.
func TestSelectorsFind(t *testing.T) {
	t.Parallel()
	for _, values := range valuesFiles(t) {
		all := render(t, "helm", "-f", values)
		for _, o := range all {
			var selector map[string]string
			var err error
			switch o.GetKind() {
			case "Service":
				selector, _, err = unstructured.NestedStringMap(o.Object, "spec", "selector")
			case "NetworkPolicy":
				selector, _, err = unstructured.NestedStringMap(o.Object, "spec", "podSelector", "matchLabels")
			case "PodDisruptionBudget", "Deployment", "StatefulSet":
				selector, _, err = unstructured.NestedStringMap(o.Object, "spec", "selector", "matchLabels")
			default:
				continue
			}
			want := map[string]string{
				"app.kubernetes.io/name": "boardwalk", "app.kubernetes.io/instance": "boardwalk",
				"app.kubernetes.io/component": o.GetLabels()["app.kubernetes.io/component"],
			}
			if err != nil || !reflect.DeepEqual(selector, want) {
				t.Errorf("%s: %s selects %v, wanted %v (%v)", values, key(o), selector, want, err)
			}
			if pod, ok := template(o); ok {
				for k, v := range want {
					if pod.GetLabels()[k] != v {
						t.Errorf("%s: pods of %s lack %s=%s", values, key(o), k, v)
					}
				}
			}
		}
	}
}

// TestFlags: what the values become on the command lines and in the environment.
func TestFlags(t *testing.T) {
	t.Parallel()
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	all := render(t, "helm", "-f", filepath.Join(chart, "ci", "production.yaml"), "--set", "image.tag=v1.2.3")
	image := "registry.example.com/boardwalk:v1.2.3@" + digest
	pod, _ := template(one(t, all, "Deployment", "boardwalk-operator"))
	operator := container(t, pod, "operator")
	if got, want := args(t, operator), []string{
		"operator", "--leader-elect", "--operations=:8081", "--log-json", "--log-level=info",
		"--indexers=/etc/boardwalk/indexers/indexers.yaml",
		"--database-secret=boardwalk-postgres-app", "--database-secret-key=uri",
	}; !slices.Equal(got, want) || operator.Object["image"] != image {
		t.Errorf("the operator is %v with %q, wanted %s with %q", operator.Object["image"], got, image, want)
	}
	pod, _ = template(one(t, all, "Deployment", "boardwalk-apiserver"))
	server := container(t, pod, "apiserver")
	if got, want := args(t, server), []string{
		"apiserver", "--from-cluster", "--indexers=http://boardwalk-indexer-{chain}:8081", "--listen=:8080", "--operations=:8082", "--log-json", "--log-level=info",
		"--wait-for-schema=300s", "--base-url=https://api.example.com", "--trusted-proxy=10.0.0.0/8", "--renderer=/run/boardwalk/renderer/renderer.sock",
	}; !slices.Equal(got, want) {
		t.Errorf("the API server has %q, wanted %q", got, want)
	}
	secret := func(variable, name, key string) map[string]any {
		return map[string]any{"name": variable, "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": name, "key": key}}}
	}
	if got, want := server.Object["env"], []any{
		secret("BOARDWALK_DB", "boardwalk-postgres-reader", "uri"),
		map[string]any{"name": "BOARDWALK_DB_FILE", "value": "/etc/boardwalk/database/uri"},
		secret("BOARDWALK_REDIS", "boardwalk-redis", "url"),
		map[string]any{"name": "GOMEMLIMIT", "value": "921MiB"},
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("the API server's environment is %v, wanted %v", got, want)
	}
	if replicas := at(one(t, all, "Deployment", "boardwalk-apiserver"), "spec", "replicas"); replicas != nil {
		t.Errorf("with autoscaling an upgrade would set the number of API servers back to %v", replicas)
	}

	all = render(t, "helm", "-f", filepath.Join(chart, "ci", "everything.yaml"))
	pod, _ = template(one(t, all, "Deployment", "markets-apiserver"))
	if got, want := args(t, container(t, pod, "apiserver")), []string{
		"apiserver", "--from-cluster", "--indexers=http://boardwalk-indexer-{chain}:8081", "--listen=:8080", "--operations=:8082", "--log-json", "--log-level=warn",
		"--wait-for-schema=3600s", "--base-url=https://api.example.com", "--docs-url=https://docs.example.com/boardwalk",
		"--trusted-proxy=10.0.0.0/8", "--trusted-proxy=192.0.2.7", "--trusted-proxy=2001:db8::/32",
		"--site=/etc/boardwalk/site/site.yaml", "--builder-keys=/etc/boardwalk/builder-keys/hashes.txt",
		"--max-in-flight=200", "--max-event-streams=1000", "--access-log", "--renderer=/run/boardwalk/renderer/renderer.sock", "--pprof",
	}; !slices.Equal(got, want) {
		t.Errorf("the API server has %q, wanted %q", got, want)
	}
	pod, _ = template(one(t, all, "Deployment", "markets-members"))
	if got := args(t, container(t, pod, "members")); !slices.Contains(got, "--game=/etc/boardwalk/game/game.yaml") {
		t.Errorf("the members program has %q", got)
	}
	rules, ok := at(one(t, all, "ConfigMap", "markets-members-game"), "data", "game.yaml").(string)
	if parsed, err := game.Parse("the chart's", []byte(rules)); !ok || err != nil || len(parsed.Ranks) != 2 || parsed.Badges[0].Image == "" {
		t.Errorf("the rules of the game are %s: %v", rules, err)
	}
}

// TestWhoGetsWhichDatabaseAddress: operator, indexers and the migration have the owner's, the API servers the reader's where there is one.
func TestWhoGetsWhichDatabaseAddress(t *testing.T) {
	t.Parallel()
	const own = "database.evaluation.enabled=false,database.existingSecret.name=db,database.existingSecret.key=address"
	for name, c := range map[string]struct{ set, owner, ownerKey, reader, readerKey, migrate string }{
		"evaluation": {"fullnameOverride=markets", "markets-evaluation-db", "uri", "markets-evaluation-db", "uri", "[migrate --log-json]"},
		"existing":   {own, "db", "address", "db", "address", "[migrate --log-json]"},
		"a reader": {
			own + ",database.reader.existingSecret.name=ro,database.reader.role=Market-Reader", "db", "address", "ro", "uri",
			"[migrate --log-json --reader=Market-Reader]",
		},
	} {
		pods := 0
		for _, o := range render(t, "helm", "--set", c.set) {
			pod, ok := template(o)
			if !ok {
				continue
			}
			given := func(container *unstructured.Unstructured, secret, key string) {
				pods++
				raw, err := json.Marshal(container.Object["env"])
				want := `[{"name":"BOARDWALK_DB","valueFrom":{"secretKeyRef":{"key":"` + key + `","name":"` + secret + `"}}}`
				if err != nil || !strings.HasPrefix(string(raw), want) || strings.Count(string(raw), "secretKeyRef") != 1 {
					t.Errorf("%s: the environment of %v is %s, wanted %s (%v)", name, container.Object["name"], raw, want, err)
				}
			}
			switch pod.GetLabels()["app.kubernetes.io/component"] {
			case "operator":
				pods++
				if a := args(t, container(t, pod, "operator")); !slices.Contains(a, "--database-secret="+c.owner) ||
					!slices.Contains(a, "--database-secret-key="+c.ownerKey) {
					t.Errorf("%s: the operator has %q", name, a)
				}
			case "migration":
				migrate := container(t, pod, "migrate")
				given(migrate, c.owner, c.ownerKey)
				if got := fmt.Sprint(args(t, migrate)); got != c.migrate {
					t.Errorf("%s: the migration is %s, wanted %s", name, got, c.migrate)
				}
			case "apiserver":
				given(container(t, pod, "apiserver"), c.reader, c.readerKey)
			}
		}
		if pods != 3 {
			t.Errorf("%s: %d pods have a database", name, pods)
		}
	}
}

// TestNotesTellWhoMayWrite: an install without a reader says what that leaves open, and what to do.
func TestNotesTellWhoMayWrite(t *testing.T) {
	t.Parallel()
	const open, command = "whoever takes one over can end that", "--set database.reader.existingSecret.name=boardwalk-db-reader --set database.reader.role=boardwalk_reader"
	existing := filepath.Join(chart, "ci", "existing-database.yaml")
	for name, c := range map[string]struct {
		args       []string
		has, lacks []string
	}{
		"without a reader": {args: []string{"-f", existing}, has: []string{open, command, "component=migration"}, lacks: []string{"API servers read as"}},
		"with a reader": {
			args: []string{"-f", filepath.Join(chart, "ci", "production.yaml")}, has: []string{"API servers read as boardwalk_reader"}, lacks: []string{open},
		},
		"without the Job": {
			args: []string{"-f", existing, "--set", "database.migration.enabled=false"}, has: []string{"run boardwalk migrate"}, lacks: []string{"component=migration"},
		},
	} {
		// Helm 3 wants a cluster for this.
		notes, _, err := run(t.Context(), t, "", "", "helm", append([]string{"install", "boardwalk", chart, "-n", "boardwalk", "--dry-run=client"}, c.args...)...)
		if err != nil {
			t.Fatal(err)
		}
		_, notes, _ = strings.Cut(notes, "NOTES:")
		for _, part := range c.has {
			if !strings.Contains(notes, part) {
				t.Errorf("%s: the notes lack %q:\n%s", name, part, notes)
			}
		}
		for _, part := range c.lacks {
			if strings.Contains(notes, part) {
				t.Errorf("%s: the notes have %q:\n%s", name, part, notes)
			}
		}
	}
}

// TestPasswordIsInItsSecretAlone, and there once.
func TestPasswordIsInItsSecretAlone(t *testing.T) {
	t.Parallel()
	for _, helm := range helms {
		stdout, _, err := run(t.Context(), t, "", "", helm, "template", "boardwalk", chart, "-n", "markets")
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := at(one(t, objects(t, stdout), "Secret", "boardwalk-evaluation-db"), "data").(map[string]any)
		encoded, _ := raw["uri"].(string)
		uri, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(raw) != 1 {
			t.Fatalf("the Secret has %d keys, uri is %q: %v", len(raw), encoded, err)
		}
		made, rest, ok := strings.Cut(strings.TrimPrefix(string(uri), "postgresql://boardwalk:"), "@")
		if !ok || len(made) != 40 || rest != "boardwalk-evaluation-db.markets.svc:5432/boardwalk?sslmode=disable" {
			t.Fatalf("the address is %q", uri)
		}
		if n := strings.Count(stdout, encoded); n != 1 || strings.Contains(stdout, made) ||
			strings.Contains(stdout, base64.StdEncoding.EncodeToString([]byte(made))) {
			t.Errorf("%s renders the password outside its Secret, or %d times in it", helm, n)
		}
	}
}

// TestRulesOfTheChartAndOfKustomizeAgree, and give no right that would be anybody's alarm.
func TestRulesOfTheChartAndOfKustomizeAgree(t *testing.T) {
	t.Parallel()
	all := render(t, "helm")
	for _, program := range []string{"operator", "apiserver"} {
		raw, err := os.ReadFile("../config/rbac/" + program + "_role.yaml")
		if err != nil {
			t.Fatal(err)
		}
		chartRules := at(one(t, all, "Role", "boardwalk-"+program), "rules")
		if plain := objects(t, string(raw))[0].Object["rules"]; !reflect.DeepEqual(chartRules, plain) {
			t.Errorf("the rules of the %s are\n%v\nin the chart and\n%v\nin config/rbac", program, chartRules, plain)
		}
	}
	for _, o := range all {
		rules, _ := o.Object["rules"].([]any)
		for _, rule := range rules {
			r, _ := rule.(map[string]any)
			for field, never := range map[string][]string{
				"resources": {"*", "secrets", "pods/exec", "pods/log"}, "verbs": {"*", "escalate", "bind", "impersonate", "deletecollection"},
				"apiGroups": {"*", "rbac.authorization.k8s.io"},
			} {
				got, _, err := unstructured.NestedStringSlice(r, field)
				if err != nil || len(got) == 0 || slices.ContainsFunc(got, func(s string) bool { return slices.Contains(never, s) }) {
					t.Errorf("%s: %s are %q (%v); never wanted are %q", key(o), field, got, err, never)
				}
			}
			resources, _, _ := unstructured.NestedStringSlice(r, "resources")
			verbs, _, _ := unstructured.NestedStringSlice(r, "verbs")
			writes := slices.DeleteFunc(slices.Clone(verbs), func(v string) bool { return slices.Contains([]string{"get", "list", "watch"}, v) })
			if slices.Contains(resources, "pods") && len(writes) > 0 {
				t.Errorf("%s may %q pods, which are only to be read", key(o), writes)
			}
		}
	}
}

// TestMembersReachTheAPI: the members program asks the API servers of its release, and the policies let it, whether or not networkPolicy.from says who may come in.
func TestMembersReachTheAPI(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{
		"markets":   {"-f", filepath.Join(chart, "ci", "everything.yaml")},
		"boardwalk": {"--set", "members.enabled=true,members.tokens.existingSecret.name=intake,apiserver.service.port=8888"},
	} {
		all := render(t, "helm", values...)
		pod, _ := template(one(t, all, "Deployment", name+"-members"))
		ports, _ := at(one(t, all, "Service", name+"-apiserver"), "spec", "ports").([]any)
		if want := fmt.Sprintf("--api=http://%s-apiserver:%v", name, at(&unstructured.Unstructured{Object: ports[0].(map[string]any)}, "port")); !slices.Contains(args(t, container(t, pod, "members")), want) { //nolint:errcheck // a port is an object
			t.Errorf("the members program has %q; want %q", args(t, container(t, pod, "members")), want)
		}
		peer := func(component string) map[string]any {
			return map[string]any{"podSelector": map[string]any{"matchLabels": map[string]any{
				"app.kubernetes.io/name": "boardwalk", "app.kubernetes.io/instance": "boardwalk", "app.kubernetes.io/component": component,
			}}}
		}
		port := []any{map[string]any{"protocol": "TCP", "port": int64(8080)}} // the pod's, not the Service's
		has := func(policy, direction, side string, want map[string]any) bool {
			rules, _ := at(one(t, all, "NetworkPolicy", name+policy), "spec", direction).([]any)
			for _, rule := range rules {
				of, _ := rule.(map[string]any)
				peers, _ := of[side].([]any)
				if reflect.DeepEqual(of["ports"], port) && slices.ContainsFunc(peers, func(p any) bool { return reflect.DeepEqual(p, want) }) {
					return true
				}
			}
			return false
		}
		if !has("-members", "egress", "to", peer("apiserver")) {
			t.Error(name + ": the members program may not ask the API servers")
		}
		if closed := name == "markets"; has("-apiserver", "ingress", "from", peer("members")) != closed {
			t.Error(name + ": the API servers' policy names the members program if it names anybody, and doesn't if all may come in")
		}
	}
}
