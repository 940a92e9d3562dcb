package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"
)

// certify makes the cluster's keys, and a kubeconfig for everybody who talks to the API server.
func (n *Node) certify() error {
	dir := filepath.Join(n.dir, "pki")
	var err error
	if n.pki, err = newAuthority(dir); err != nil {
		return err
	}
	if err := newKey(filepath.Join(dir, "serviceaccounts.key")); err != nil {
		return err
	}
	service := "kubernetes.default.svc"
	for _, i := range []identity{
		{
			name: "apiserver", user: "kube-apiserver", addresses: []string{address, apiService, "127.0.0.1"},
			hosts: []string{"localhost", "kubernetes", "kubernetes.default", service, service + ".cluster.local"},
		},
		{name: "apiserver-kubelet", user: "apiserver-kubelet", group: "system:masters"},
		{name: "admin", user: "admin", group: "system:masters"},
		{name: "controllers", user: "system:kube-controller-manager"},
		{name: "scheduler", user: "system:kube-scheduler"},
		{name: "proxy", user: "system:kube-proxy"},
		{name: "kubelet", user: "system:node:" + hostname, group: "system:nodes", hosts: []string{hostname}, addresses: []string{address, "127.0.0.1"}},
	} {
		if err := n.pki.issue(i); err != nil {
			return err
		}
		if _, err := n.pki.kubeconfig(i.name, apiServer); err != nil {
			return err
		}
	}
	n.admin = n.file("admin.kubeconfig")
	config, err := n.pki.clientConfig("admin")
	if err != nil {
		return err
	}
	n.client = &http.Client{
		Timeout:   20 * time.Second,
		Transport: &http.Transport{DialContext: n.sandbox.dial, TLSClientConfig: config},
	}
	return nil
}

// file is a file of the cluster's keys.
func (n *Node) file(name string) string { return filepath.Join(n.dir, "pki", name) }

const startTimeout = 3 * time.Minute // some ten seconds on an idle machine

func (n *Node) controlPlane(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	client, peer := "http://127.0.0.1:2379", "http://127.0.0.1:2380"
	if err := n.start("etcd", n.tools["etcd"], "--data-dir", filepath.Join(n.dir, "etcd"),
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer,
		"--unsafe-no-fsync"); err != nil {
		return err
	}
	policy, err := n.write("audit.yaml", "%s", auditPolicy)
	if err != nil {
		return err
	}
	if err := n.start("kube-apiserver", n.tools["kube-apiserver"],
		"--etcd-servers="+client, "--secure-port=6443", "--bind-address="+address, "--advertise-address="+address,
		"--endpoint-reconciler-type=lease", "--service-cluster-ip-range="+serviceRange, "--client-ca-file="+n.file("ca.crt"),
		"--tls-cert-file="+n.file("apiserver.crt"), "--tls-private-key-file="+n.file("apiserver.key"),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+n.file("serviceaccounts.key"),
		"--service-account-signing-key-file="+n.file("serviceaccounts.key"),
		// Pod Security is among the plugins that are on by default.
		"--audit-policy-file="+policy, "--audit-log-path="+n.auditLog(), "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
		"--kubelet-certificate-authority="+n.file("ca.crt"), "--kubelet-client-certificate="+n.file("apiserver-kubelet.crt"),
		"--kubelet-client-key="+n.file("apiserver-kubelet.key"), "--kubelet-preferred-address-types=InternalIP"); err != nil {
		return err
	}
	if err := n.await(ctx, "the API server", func(ctx context.Context) error { return n.answers(ctx, "/readyz") }); err != nil {
		return err
	}
	if err := n.start("kube-controller-manager", n.tools["kube-controller-manager"],
		"--kubeconfig="+n.file("controllers.kubeconfig"), "--authentication-kubeconfig="+n.file("controllers.kubeconfig"),
		"--authorization-kubeconfig="+n.file("controllers.kubeconfig"), "--bind-address=127.0.0.1", "--leader-elect=false",
		"--root-ca-file="+n.file("ca.crt"), "--service-account-private-key-file="+n.file("serviceaccounts.key"),
		"--use-service-account-credentials=true",
		"--cluster-signing-cert-file="+n.file("ca.crt"), "--cluster-signing-key-file="+n.file("ca.key")); err != nil {
		return err
	}
	if err := n.start("kube-scheduler", n.tools["kube-scheduler"],
		"--kubeconfig="+n.file("scheduler.kubeconfig"), "--authentication-kubeconfig="+n.file("scheduler.kubeconfig"),
		"--authorization-kubeconfig="+n.file("scheduler.kubeconfig"), "--bind-address=127.0.0.1", "--leader-elect=false"); err != nil {
		return err
	}
	return n.await(ctx, "the controller manager", func(ctx context.Context) error {
		return n.answers(ctx, "/api/v1/namespaces/default/serviceaccounts/default")
	})
}

// answers asks the API server for a path and wants 200.
func (n *Node) answers(ctx context.Context, path string) error {
	_, err := n.read(ctx, path)
	return err
}

// read gets a path of the API server.
func (n *Node) read(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, apiServer+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := n.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 10<<20))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %w", path, errors.New(response.Status))
	}
	return body, nil
}
