package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/cmd"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// operatorSite is a namespace in which the operator's program runs with what the chart gives it.
type operatorSite struct {
	client.Client

	t         *testing.T
	kube      *kubetest.Cluster
	namespace string
}

func newOperatorSite(t *testing.T, kube *kubetest.Cluster) *operatorSite {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(kube.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return &operatorSite{Client: c, t: t, kube: kube, namespace: kube.Namespace(t)}
}

// startCluster starts one that keeps resources and does nothing with them.
func startCluster(t *testing.T) *kubetest.Cluster {
	t.Helper()
	kube, err := kubetest.Start(t.Context(), kubetest.Options{CRDs: []string{"config/crd/bases"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kube.Stop)
	return kube
}

// rendered is the pod that the chart makes of the operator with some values, whose ConfigMap is there.
func (o *operatorSite) rendered(set ...string) *corev1.PodSpec {
	o.t.Helper()
	helm, err := kubetest.Tool(o.t.Context(), "helm")
	if err != nil {
		o.t.Fatal(err)
	}
	args := []string{"template", "boardwalk", "charts/boardwalk", "--namespace", o.namespace}
	for _, s := range set {
		args = append(args, "--set", s)
	}
	rendering := exec.CommandContext(o.t.Context(), helm, args...)
	rendering.Env = []string{"HOME=" + o.t.TempDir()}
	out, err := rendering.Output()
	if err != nil {
		o.t.Fatal(err)
	}
	var pod *corev1.PodSpec
	for d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(out), 4096); ; {
		var raw json.RawMessage
		if err := d.Decode(&raw); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			o.t.Fatal(err)
		}
		var deployment appsv1.Deployment
		var config corev1.ConfigMap
		switch {
		case json.Unmarshal(raw, &deployment) == nil && deployment.Kind == "Deployment" && deployment.Name == "boardwalk-operator":
			pod = &deployment.Spec.Template.Spec
		case json.Unmarshal(raw, &config) == nil && config.Kind == "ConfigMap" && config.Name == "boardwalk-operator-indexers":
			config.Namespace = o.namespace
			err := o.Create(o.t.Context(), &config)
			if apierrors.IsAlreadyExists(err) {
				err = o.Update(o.t.Context(), &config)
			}
			if err != nil {
				o.t.Fatal(err)
			}
		}
	}
	if pod == nil {
		o.t.Fatal("the chart renders no operator")
	}
	return pod
}

// secret is one of the namespace as it is now.
func (o *operatorSite) secret(name string) (s corev1.Secret, ok bool) {
	o.t.Helper()
	err := o.Get(o.t.Context(), client.ObjectKey{Namespace: o.namespace, Name: name}, &s)
	if err != nil && !apierrors.IsNotFound(err) {
		o.t.Fatal(err)
	}
	return s, err == nil
}

// config is a ConfigMap of the namespace as it is now.
func (o *operatorSite) config(name string) map[string]string {
	o.t.Helper()
	var c corev1.ConfigMap
	if err := o.Get(o.t.Context(), client.ObjectKey{Namespace: o.namespace, Name: name}, &c); err != nil {
		o.t.Fatal(err)
	}
	return c.Data
}

// start runs a pod of the operator as a kubelet does, with its Secrets in the environment and in files. It is nil where a kubelet
// couldn't start it.
func (o *operatorSite) start(pod *corev1.PodSpec) (stop func()) {
	o.t.Helper()
	c := &pod.Containers[0]
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, GenerateName: "boardwalk-operator-"}, Spec: *pod.DeepCopy()}
	object.Spec.ServiceAccountName = ""
	if err := o.Create(o.t.Context(), object); err != nil {
		o.t.Fatal(err)
	}
	for _, e := range c.Env {
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil && e.ValueFrom.FieldRef.FieldPath == "metadata.name" {
			o.t.Setenv(e.Name, object.Name)
		}
		if e.ValueFrom == nil || e.ValueFrom.SecretKeyRef == nil {
			continue
		}
		ref := e.ValueFrom.SecretKeyRef
		s, _ := o.secret(ref.Name)
		if value, ok := s.Data[ref.Key]; ok {
			o.t.Setenv(e.Name, string(value))
		} else if ref.Optional == nil || !*ref.Optional {
			return nil
		}
	}
	args := append([]string{}, c.Args...)
	for i := range pod.Volumes {
		v := &pod.Volumes[i]
		if v.ConfigMap != nil {
			dir := o.t.TempDir()
			for name, text := range o.config(v.ConfigMap.Name) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					o.t.Fatal(err)
				}
			}
			mounted(args, c, v.Name, dir)
		}
		if v.Secret == nil {
			continue
		}
		optional := v.Secret.Optional != nil && *v.Secret.Optional
		s, ok := o.secret(v.Secret.SecretName)
		if !ok && !optional {
			return nil
		}
		dir := o.t.TempDir()
		items := v.Secret.Items
		if items == nil {
			for key := range s.Data {
				items = append(items, corev1.KeyToPath{Key: key, Path: key})
			}
		}
		for _, item := range items {
			value, ok := s.Data[item.Key]
			if !ok && !optional {
				return nil
			} else if !ok {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, item.Path), value, 0o600); err != nil {
				o.t.Fatal(err)
			}
		}
		mounted(args, c, v.Name, dir)
	}
	return o.program(args...)
}

// mounted has a container's arguments name the folder that stands for a volume of it.
func mounted(args []string, c *corev1.Container, volume, dir string) {
	for _, m := range c.VolumeMounts {
		if m.Name == volume {
			for a := range args {
				args[a] = strings.ReplaceAll(args[a], m.MountPath, dir)
			}
		}
	}
}

// program runs one with the namespace's resources.
func (o *operatorSite) program(args ...string) (stop func()) {
	o.t.Helper()
	args = append(args, "--kubeconfig", o.kube.Kubeconfig, "--namespace", o.namespace, "--operations=127.0.0.1:0")
	c := cmd.New(serve.Build{})
	c.SetOut(io.Discard)
	var log output
	c.SetErr(&log)
	c.SetArgs(args)
	ctx, cancel := context.WithCancel(context.WithoutCancel(o.t.Context()))
	done := make(chan error, 1)
	go func() { done <- c.ExecuteContext(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			o.t.Errorf("%v\n%s", err, log.String())
		}
	}
}

// until waits for what takes longer than a moment: a start of the operator that must wait for the Lease of another.
func (o *operatorSite) until(what string, is func() bool) {
	o.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			o.t.Fatal("it never came about that " + what)
		}
	}
}

// indexer is the Deployment of a chain's indexer, nil while there is none.
func (o *operatorSite) indexer(id string) *appsv1.Deployment {
	o.t.Helper()
	var d appsv1.Deployment
	err := o.Get(o.t.Context(), client.ObjectKey{Namespace: o.namespace, Name: workload.ObjectName(id)}, &d)
	if apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		o.t.Fatal(err)
	}
	return &d
}

func (o *operatorSite) chain() *v1alpha1.Chain {
	o.t.Helper()
	var c v1alpha1.Chain
	if err := yaml.UnmarshalStrict([]byte(resolvetest.Good), &c); err != nil {
		o.t.Fatal(err)
	}
	c.Namespace, c.Spec.Indexer = o.namespace, v1alpha1.Indexer{}
	if err := o.Create(o.t.Context(), &c); err != nil {
		o.t.Fatal(err)
	}
	return &c
}

// TestAllProgramsRunAsOneUser: what the chart says of the user holds for the indexers, which the operator starts, too. Some clusters
// choose the users of pods themselves and refuse all others.
func TestAllProgramsRunAsOneUser(t *testing.T) {
	kube := startCluster(t)
	for value, want := range map[string]*int64{"65532": new(int64(65532)), "10001": new(int64(10001)), "null": nil} {
		t.Run(value, func(t *testing.T) {
			o := newOperatorSite(t, kube)
			pod := o.rendered("runAsUser=" + value)
			stop := o.start(pod)
			if stop == nil {
				t.Fatal("the operator can't be started before there is a database")
			}
			defer stop()
			o.chain()
			o.until("there is an indexer", func() bool { return o.indexer("base") != nil })
			is := func(id *int64) string {
				if id == nil {
					return "the cluster's choice"
				}
				return strconv.FormatInt(*id, 10)
			}
			for program, s := range map[string]*corev1.PodSecurityContext{
				"operator": pod.SecurityContext, "indexer": o.indexer("base").Spec.Template.Spec.SecurityContext,
			} {
				if is(s.RunAsUser) != is(want) || is(s.RunAsGroup) != is(want) || is(s.FSGroup) != is(want) || s.RunAsNonRoot == nil || !*s.RunAsNonRoot {
					t.Errorf("with runAsUser %s the %s runs as user %s, group %s, its files' group is %s",
						value, program, is(s.RunAsUser), is(s.RunAsGroup), is(s.FSGroup))
				}
			}
		})
	}
}
