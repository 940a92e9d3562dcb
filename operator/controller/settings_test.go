package controller

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// settingsFile is a file of settings whose content may be changed.
type settingsFile struct {
	t    *testing.T
	path string
}

func newSettingsFile(t *testing.T, text string) *settingsFile {
	t.Helper()
	f := &settingsFile{t, filepath.Join(t.TempDir(), "indexers.yaml")}
	f.write(text)
	return f
}

// write is atomic, as a kubelet's is.
func (f *settingsFile) write(text string) {
	f.t.Helper()
	if err := os.WriteFile(f.path+".new", []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(f.path+".new", f.path); err != nil {
		f.t.Fatal(err)
	}
}

func (f *settingsFile) options(o *Options) {
	o.IndexersFile, o.settingsPause = f.path, 20*time.Millisecond
}

// TestSettingsAreReadAgain: a platform team changes what holds for all indexers without starting the operator anew.
func TestSettingsAreReadAgain(t *testing.T) {
	w := newWorld(t)
	f := newSettingsFile(t, "logLevel: warn\n")
	op := w.run(f.options)
	w.indexers.says("base")
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready")
	hasLevel := func(level string) {
		t.Helper()
		eventually(t, func() error {
			if args := w.deployment("base").Spec.Template.Spec.Containers[0].Args; !slices.Contains(args, "--log-level="+level) {
				return fmt.Errorf("the indexer runs with %v", args)
			}
			return nil
		})
	}
	hasLevel("warn")
	f.write("logLevel: debug\nnetworkPolicy: false\n")
	hasLevel("debug")
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: workload.ObjectName("base")}}
	eventually(t, func() error { return w.gone(policy) })

	valid := func() string {
		families, err := op.metrics.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "boardwalk_operator_settings_valid" {
				return fmt.Sprint(f.GetMetric()[0].GetGauge().GetValue())
			}
		}
		return "missing"
	}
	if v := valid(); v != "1" {
		t.Errorf("boardwalk_operator_settings_valid is %s with valid settings", v)
	}
	f.write("logLevel: loud\n")
	eventually(t, func() error {
		if v := valid(); v != "0" {
			return fmt.Errorf("boardwalk_operator_settings_valid is %s with settings that can't be used", v)
		}
		return nil
	})
	w.lookedAt(c, 7)
	hasLevel("debug")

	f.write("logLevel: error\n")
	hasLevel("error")
	eventually(t, func() error { return w.get(policy) })
}

// A policy of somebody else that has an indexer's name isn't the operator's to delete.
func TestAStrangersPolicyStays(t *testing.T) {
	w := newWorld(t)
	stranger := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: workload.ObjectName("base")}}
	w.create(stranger)
	w.run(func(o *Options) { o.Workload.NetworkPolicy = new(false) })
	w.indexers.says("base")
	w.become(w.chain("base", 8453), "Ready True Ready")
	if err := w.get(stranger); err != nil {
		t.Error(err)
	}
}

func TestAnOperatorDoesNotStartWithWrongSettings(t *testing.T) {
	w := newWorld(t)
	f := newSettingsFile(t, "logLevel: loud\n")
	o := w.options()
	f.options(&o)
	if _, err := New(w.operator, o); err == nil || !strings.Contains(err.Error(), f.path+": logLevel:") {
		t.Errorf("it starts with settings that can't be used: %v", err)
	}
	o.IndexersFile, o.Metrics = filepath.Join(t.TempDir(), "none.yaml"), prometheus.NewRegistry()
	if _, err := New(w.operator, o); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("it starts without the file of settings: %v", err)
	}
}

// podWith is one with a container of a name and an image.
func podWith(name, container, image string) *corev1.Pod {
	restricted := &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		AutomountServiceAccountToken: new(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{
			{Name: "mesh", Image: "none.invalid/mesh", SecurityContext: restricted}, {Name: container, Image: image, SecurityContext: restricted},
		},
	}}
}

// TestIndexersGetTheOperatorsImage: kustomize's images, a mirror's webhook and a hand change the operator's alone.
func TestIndexersGetTheOperatorsImage(t *testing.T) {
	w := newWorld(t)
	w.create(podWith("operator-7", "operator", "registry.example.com/boardwalk:v7"))
	w.create(podWith("another", "sleep", "none.invalid/sleep"))
	own := func(pod string) error {
		o := w.options()
		o.Workload.Image, o.PodName = "", pod
		op, err := New(w.operator, o)
		if err != nil {
			return err
		}
		return op.Run(t.Context())
	}
	if err := own(""); err == nil || !strings.Contains(err.Error(), "give --indexer-image") {
		t.Errorf("without a pod: %v", err)
	}
	if err := own("another"); err == nil || !strings.Contains(err.Error(), `no container called operator`) {
		t.Errorf("in a pod without such a container: %v", err)
	}
	w.run(func(o *Options) { o.Workload.Image, o.PodName = "", "operator-7" })
	w.indexers.says("base")
	w.become(w.chain("base", 8453), "Ready True Ready")
	if got := w.deployment("base").Spec.Template.Spec.Containers[0].Image; got != "registry.example.com/boardwalk:v7" {
		t.Errorf("the indexer runs %s", got)
	}
}

// operatorOf is the Deployment of a release's operator.
func operatorOf(release string) *appsv1.Deployment {
	labels := map[string]string{
		workload.LabelName: workload.Name, workload.LabelComponent: workload.Operator, workload.LabelInstance: release,
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: release + "-operator", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "operator", Image: "boardwalk"}}},
			},
		},
	}
}

// TestASecondReleaseIsRefused: two would share the Lease, and each takes the other's chains for its own.
func TestASecondReleaseIsRefused(t *testing.T) {
	w := newWorld(t)
	first, second := operatorOf("a-first"), operatorOf("b-second") // within a second the name decides
	w.create(first)
	w.create(second)
	run := func(release string) error {
		o := w.options()
		o.Workload.Instance = release
		op, err := New(w.operator, o)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		ending, end := context.WithCancel(ctx)
		go func() {
			if op.Ready(ending) == nil {
				end()
			}
		}()
		return op.Run(ending)
	}
	if err := run("b-second"); err == nil || !strings.Contains(err.Error(), `has the operator of another release, "a-first"`) {
		t.Errorf("the second of two releases runs: %v", err)
	}
	if err := run("a-first"); err != nil {
		t.Errorf("the first of two releases doesn't run: %v", err)
	}
	w.remove(first)
	eventually(t, func() error { return w.gone(first) })
	if err := run("b-second"); err != nil {
		t.Errorf("the one that is left doesn't run: %v", err)
	}
}

// TestRemovingOneReleasesIndexersLeavesOthers: the hook of an uninstalled release must not end those of another one.
func TestRemovingOneReleasesIndexersLeavesOthers(t *testing.T) {
	w := newWorld(t)
	op := w.run(func(o *Options) { o.Workload.Instance = "markets" })
	w.indexers.says("base")
	w.become(w.chain("base", 8453), "Ready True Ready")
	if err := op.stop(); err != nil {
		t.Fatal(err)
	}
	remover := w.remover()
	if err := RemoveIndexers(t.Context(), remover, w.namespace, "another"); err != nil {
		t.Fatal(err)
	}
	var left appsv1.DeploymentList
	if err := w.List(t.Context(), &left, client.InNamespace(w.namespace)); err != nil || len(left.Items) != 1 || !left.Items[0].DeletionTimestamp.IsZero() {
		t.Errorf("after another release's indexers were removed there are %d Deployments: %v", len(left.Items), err)
	}
	// An older version of the operator gave its objects no label with the release's name. They are deleted as well.
	w.patch(w.deployment("base"), `{"metadata":{"labels":{"app.kubernetes.io/instance":null}}}`)
	if err := RemoveIndexers(t.Context(), remover, w.namespace, "markets"); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		for _, o := range w.objectsOf("base") {
			if err := w.gone(o); err != nil {
				return err
			}
		}
		return nil
	})
}
