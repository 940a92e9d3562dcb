package kubetest

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

func TestRBAC(t *testing.T) {
	t.Parallel()
	client, namespace := clientOf(t, cluster.Config), cluster.Namespace(t)
	account, err := cluster.ServiceAccount(t.Context(), namespace, "default")
	if err != nil {
		t.Fatal(err)
	}
	user, err := cluster.User("reader", "readers")
	if err != nil {
		t.Fatal(err)
	}
	reads := func(config *rest.Config) error {
		_, err := clientOf(t, config).CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
		return err
	}
	for name, config := range map[string]*rest.Config{"service account": account, "user": user} {
		if err := reads(config); !apierrors.IsForbidden(err) {
			t.Errorf("a %s without rights reads config maps: %v; want that it is forbidden", name, err)
		}
	}
	_, err = client.RbacV1().Roles(namespace).Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects: []rbacv1.Subject{
			{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "default"},
			{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "readers"},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, config := range []*rest.Config{account, user} {
		eventually(t, func(context.Context) error { return reads(config) }) // the authorizer learns of a binding by a watch
	}
	if _, err := clientOf(t, account).CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a service account that may list config maps lists secrets: %v; want that it is forbidden", err)
	}
}

func TestKubectl(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	account, err := cluster.ServiceAccount(t.Context(), namespace, "default")
	if err != nil {
		t.Fatal(err)
	}
	limited := filepath.Join(t.TempDir(), "kubeconfig")
	if err := WriteKubeconfig(limited, account); err != nil {
		t.Fatal(err)
	}
	kubectl, err := Tool(t.Context(), "kubectl")
	if err != nil {
		t.Fatal(err)
	}
	for kubeconfig, want := range map[string]string{
		cluster.Kubeconfig: "kubetest",
		limited:            "system:serviceaccount:" + namespace + ":default",
	} {
		command := exec.CommandContext(t.Context(), kubectl, "--kubeconfig", kubeconfig,
			"auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
		if out, err := command.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("kubectl auth whoami = %s, %v; want %s", out, err, want)
		}
	}
	out, err := exec.CommandContext(t.Context(), kubectl, "--kubeconfig", cluster.Kubeconfig, "version").CombinedOutput()
	if err != nil || strings.Count(string(out), kubernetesVersion) != 2 {
		t.Errorf("kubectl version = %s, %v; want %s of client and server", out, err, kubernetesVersion)
	}
}
