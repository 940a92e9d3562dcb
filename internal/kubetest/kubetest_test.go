package kubetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// cluster has controllers and lives as long as the package's tests; a test that stops something has its own.
var cluster *Cluster

func TestMain(m *testing.M) {
	var code int
	if err := run(context.Background(), m, &code); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// childVariable makes TestMain start an etcd in the directory that it names, print its process id and wait.
const childVariable = "KUBETEST_CHILD"

func child(ctx context.Context, dir string) error {
	c := &Cluster{Dir: dir}
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, c.etcd.os.Pid)
	select {}
}

func run(ctx context.Context, m *testing.M, code *int) (err error) {
	if dir := os.Getenv(childVariable); dir != "" {
		return child(ctx, dir)
	}
	if cluster, err = Start(ctx, Options{CRDs: []string{"../../config/crd/bases"}}); err != nil {
		return err
	}
	defer cluster.Stop()
	if err := cluster.StartControllers(ctx, 2); err != nil {
		return err
	}
	*code = m.Run()
	return nil
}

var chains = schema.GroupVersionResource{Group: "boardwalk.dev", Version: "v1alpha1", Resource: "chains"}

func TestDefinitionsAreServed(t *testing.T) {
	t.Parallel()
	client, err := dynamic.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Resource(chains).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("list chains: %v", err)
	}
}

func TestADeploymentRollsOutAndItsOwnersDeletionDeletesIt(t *testing.T) {
	t.Parallel()
	client, namespace := clientOf(t, cluster.Config), cluster.Namespace(t)
	owner, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rollOut(t, client, namespace, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID})

	pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 2 {
		t.Fatalf("%d pods, %v; want 2", len(pods.Items), err)
	}
	for _, pod := range pods.Items {
		if pod.Spec.NodeName == "" || pod.Status.PodIP == "" {
			t.Errorf("%s is on node %q with address %q", pod.Name, pod.Spec.NodeName, pod.Status.PodIP)
		}
	}
	if err := client.CoreV1().ConfigMaps(namespace).Delete(t.Context(), owner.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		if _, err := client.AppsV1().Deployments(namespace).Get(ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return errors.Join(errors.New("the deployment is still there"), err)
		}
		pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("%d pods are still there", len(pods.Items))
		}
		return err
	})
}

func TestAJobCompletes(t *testing.T) {
	t.Parallel()
	client, namespace := clientOf(t, cluster.Config), cluster.Namespace(t)
	template := podTemplate()
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	_, err := client.BatchV1().Jobs(namespace).Create(t.Context(),
		&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "once"}, Spec: batchv1.JobSpec{Template: template}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		job, err := client.BatchV1().Jobs(namespace).Get(ctx, "once", metav1.GetOptions{})
		if err == nil && job.Status.CompletionTime == nil {
			err = fmt.Errorf("the job's status is %+v", job.Status)
		}
		return err
	})
}

func TestAnAPIServerThatWasAwayKeepsItsDataAndItsPort(t *testing.T) {
	t.Parallel()
	own, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Stop)
	if err := own.StartControllers(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	client, namespace := clientOf(t, own.Config), own.Namespace(t)
	rollOut(t, client, namespace)

	own.StopAPIServer()
	if _, err := client.Discovery().ServerVersion(); err == nil {
		t.Fatal("the API server answers although it was stopped")
	}
	if err := own.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := own.StartAPIServer(t.Context()); err == nil {
		t.Error("a second API server was started")
	}
	deployment, err := client.AppsV1().Deployments(namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("what was made before: %v", err)
	}
	// Controllers, scheduler and nodes have found it again.
	*deployment.Spec.Replicas = 3
	if _, err := client.AppsV1().Deployments(namespace).Update(t.Context(), deployment, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, available(client, namespace, 3))
}

func TestWhatIsStoppedIsGone(t *testing.T) {
	t.Parallel()
	own, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	own.Stop()
	own.Stop()
	if _, err := os.Stat(own.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory %s is left: %v", own.Dir, err)
	}
	if _, err := clientOf(t, own.Config).Discovery().ServerVersion(); err == nil {
		t.Error("the API server answers")
	}
}

func TestDefinitionsThatCannotBeServedEndTheStart(t *testing.T) {
	t.Parallel()
	refused := filepath.Join(t.TempDir(), "refused.yaml")
	content := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: shells.none.invalid}\n"
	if err := os.WriteFile(refused, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, word := range map[string]string{refused: "shells.none.invalid", "no-such-directory": "no-such-directory"} {
		c, err := Start(t.Context(), Options{CRDs: []string{path}})
		if err == nil {
			c.Stop()
		}
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("Start = %v; want an error that names %s", err, word)
		}
	}
}

// rollOut makes a Deployment called web and waits until both its replicas are available.
func rollOut(t *testing.T, client *kubernetes.Clientset, namespace string, owners ...metav1.OwnerReference) {
	t.Helper()
	replicas, template := int32(2), podTemplate()
	_, err := client.AppsV1().Deployments(namespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", OwnerReferences: owners},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, available(client, namespace, replicas))
}

// podTemplate has what a stage must cope with: an init container, a sidecar and a readiness gate.
func podTemplate() corev1.PodTemplateSpec {
	always := corev1.ContainerRestartPolicyAlways
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{
				{Name: "first", Image: "none.invalid/first"},
				{Name: "beside", Image: "none.invalid/beside", RestartPolicy: &always},
			},
			Containers:     []corev1.Container{{Name: "web", Image: "none.invalid/web"}},
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "none.invalid/gate"}},
		},
	}
}

func available(client *kubernetes.Clientset, namespace string, want int32) func(context.Context) error {
	return func(ctx context.Context) error {
		d, err := client.AppsV1().Deployments(namespace).Get(ctx, "web", metav1.GetOptions{})
		if err == nil && d.Status.AvailableReplicas != want {
			err = fmt.Errorf("%d of %d replicas are available", d.Status.AvailableReplicas, want)
		}
		return err
	}
}

func eventually(t *testing.T, ask func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		err := ask(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("after %s: %v", patience, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func clientOf(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}
