package charts_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestTheRendererIsBesideTheAPIServer: they meet in a folder of memory that the API server can't write to.
func TestTheRendererIsBesideTheAPIServer(t *testing.T) {
	t.Parallel()
	all := render(t, "helm", "--set", "image.repository=registry.example.com/boardwalk")
	pod, _ := template(one(t, all, "Deployment", "boardwalk-apiserver"))
	server, beside := container(t, pod, "apiserver"), container(t, pod, "renderer")
	if restart := at(beside, "restartPolicy"); restart != "Always" || containers(t, pod)[0]["name"] != "renderer" {
		t.Errorf("the renderer is no sidecar: its restartPolicy is %v", restart)
	}
	const folder = "/run/boardwalk/renderer"
	if got, want := args(t, beside), []string{
		"renderer", "--socket=" + folder + "/renderer.sock", "--operations=:8083", "--log-json", "--log-level=info", "--tabs=2",
		"--max-browser-memory=536870912",
	}; !slices.Equal(got, want) {
		t.Errorf("the renderer has %q, wanted %q", got, want)
	}
	for name, want := range map[string][]any{
		"renderer": {
			map[string]any{"name": "renderer", "mountPath": folder},
			map[string]any{"name": "renderer-tmp", "mountPath": "/tmp"},
		},
		"apiserver": {map[string]any{"name": "renderer", "mountPath": folder, "readOnly": true}},
	} {
		mounts, _ := at(container(t, pod, name), "volumeMounts").([]any)
		for _, m := range want {
			if !slices.ContainsFunc(mounts, func(got any) bool { return reflect.DeepEqual(got, m) }) {
				t.Errorf("%s has the mounts %v, wanted %v among them", name, mounts, m)
			}
		}
	}
	volumes, _ := at(pod, "spec", "volumes").([]any)
	for name, limit := range map[string]string{"renderer": "1Mi", "renderer-tmp": "256Mi"} {
		want := map[string]any{"name": name, "emptyDir": map[string]any{"medium": "Memory", "sizeLimit": limit}}
		if !slices.ContainsFunc(volumes, func(v any) bool { return reflect.DeepEqual(v, want) }) {
			t.Errorf("the volumes are %v, wanted %v among them", volumes, want)
		}
	}
	if beside.Object["env"] != nil {
		t.Errorf("the renderer's environment is %v: it needs none, and no secret", beside.Object["env"])
	}
	if !slices.Contains(args(t, server), "--renderer="+folder+"/renderer.sock") {
		t.Errorf("the API server isn't told of its renderer: %q", args(t, server))
	}
}

func TestTheRenderersImage(t *testing.T) {
	t.Parallel()
	const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "boardwalk-renderer:0.1.0"},
		{[]string{"--set", "image.repository=registry.example.com:5000/b,image.tag=v2"}, "registry.example.com:5000/b-renderer:v2"},
		// The digest is another image's.
		{[]string{"-f", filepath.Join(chart, "ci", "production.yaml")}, "registry.example.com/boardwalk-renderer:0.1.0"},
		{[]string{"--set", "renderer.image.repository=cards,renderer.image.tag=v3"}, "cards:v3"},
		{[]string{"--set", "renderer.image.digest=" + digest[1:]}, "boardwalk-renderer" + digest},
	} {
		pod, _ := template(one(t, render(t, "helm", c.args...), "Deployment", "boardwalk-apiserver"))
		if got := at(container(t, pod, "renderer"), "image"); got != c.want {
			t.Errorf("with %q the renderer is %v, wanted %s", c.args, got, c.want)
		}
	}
}

// TestWithoutARenderer nothing of it is left.
func TestWithoutARenderer(t *testing.T) {
	t.Parallel()
	for _, enabled := range []string{"true", "false"} {
		var found []string
		for _, o := range render(t, "helm", "--set", "metrics.serviceMonitor.enabled=true,renderer.enabled="+enabled) {
			raw, err := json.Marshal(o.Object)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(raw, []byte("renderer")) || bytes.Contains(raw, []byte("8083")) {
				found = append(found, key(o))
			}
		}
		slices.Sort(found)
		want := "Deployment/boardwalk-apiserver NetworkPolicy/boardwalk-apiserver Service/boardwalk-apiserver-operations ServiceMonitor/boardwalk"
		if enabled == "false" {
			want = ""
		}
		if got := strings.Join(found, " "); got != want {
			t.Errorf("with renderer.enabled=%s it is in %q, wanted %q", enabled, got, want)
		}
	}
}
