package kubetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Options say what a cluster has from the start.
type Options struct {
	// CRDs are YAML files, and directories of them, with custom resource definitions. They are served when Start returns.
	CRDs []string
}

// Cluster is a running control plane. Its methods that start and stop something are for one goroutine at a time.
type Cluster struct {
	// Config is the administrator's (system:masters), without a limit on requests.
	Config *rest.Config
	// Kubeconfig is the path of the same for kubectl and helm.
	Kubeconfig string
	// Dir has the components' logs, <name>.log, until Stop.
	Dir string

	ca          *authority
	port        int
	releasePort func()
	etcd        *process
	apiserver   *process // nil while it is down
	controllers []*process
}

// Start starts etcd and kube-apiserver on ports of 127.0.0.1 that nobody uses, and returns when they are ready. They end
// with Stop or, on Linux, with this process; ctx bounds the start alone.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "kubetest-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{Dir: dir, Kubeconfig: filepath.Join(dir, "kubeconfig"), releasePort: func() {}}
	if err := c.start(ctx, o); err != nil {
		c.Stop()
		return nil, fmt.Errorf("start a Kubernetes: %w", err)
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, o Options) error {
	definitions, err := readDefinitions(o.CRDs)
	if err != nil {
		return err
	}
	if c.ca, err = newAuthority(); err != nil {
		return err
	}
	if err := c.ca.writePKI(c.Dir); err != nil {
		return err
	}
	if c.port, c.releasePort, err = reservePort(); err != nil {
		return err
	}
	if c.Config, err = c.User("kubetest", "system:masters"); err != nil {
		return err
	}
	if err := WriteKubeconfig(c.Kubeconfig, c.Config); err != nil {
		return err
	}
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	return c.install(ctx, definitions)
}

func (c *Cluster) file(name string) string { return filepath.Join(c.Dir, name) }

// startEtcd starts an etcd that answers on a socket. What it writes is not worth a disk's time.
func (c *Cluster) startEtcd(ctx context.Context) (err error) {
	socket := c.file("etcd.sock")
	c.etcd, err = start(ctx, c.Dir, "etcd", []string{
		"--data-dir=" + c.file("etcd"), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls=unix://" + socket, "--listen-peer-urls=http://127.0.0.1:0",
		"--advertise-client-urls=http://127.0.0.1:0", // nobody reads it, but a socket's is refused
	})
	if err != nil {
		return err
	}
	return until(ctx, "it listens", func(ctx context.Context) error {
		connection, err := new(net.Dialer).DialContext(ctx, "unix", socket)
		if err != nil {
			return err
		}
		return connection.Close()
	}, c.etcd)
}

// StartAPIServer starts the API server again after StopAPIServer, on the same port and with the same data, and returns
// when it is ready.
func (c *Cluster) StartAPIServer(ctx context.Context) (err error) {
	if c.apiserver != nil {
		return errors.New("the API server is running: call StopAPIServer first")
	}
	c.apiserver, err = start(ctx, c.Dir, "kube-apiserver", []string{
		"--etcd-servers=unix://" + c.file("etcd.sock"),
		"--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(c.port), "--permit-port-sharing",
		"--tls-cert-file=" + c.file("apiserver.crt"), "--tls-private-key-file=" + c.file("apiserver.key"),
		"--client-ca-file=" + c.file("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.file("sa.key"), "--service-account-signing-key-file=" + c.file("sa.key"),
		"--authorization-mode=RBAC", "--allow-privileged",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--endpoint-reconciler-type=none", // an address of 127.0.0.1 makes no endpoint
	})
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	err = until(ctx, "it is ready", func(ctx context.Context) error {
		return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	}, c.apiserver)
	if err != nil {
		c.StopAPIServer()
	}
	return err
}

// StopAPIServer ends the API server as a crash does. Until StartAPIServer, connections are refused.
func (c *Cluster) StopAPIServer() {
	if c.apiserver != nil {
		c.apiserver.kill()
		c.apiserver = nil
	}
}

// Stop ends everything, the last started first, and removes Dir. It may be called again.
func (c *Cluster) Stop() {
	c.stopControllers()
	c.StopAPIServer()
	if c.etcd != nil {
		c.etcd.kill()
		c.etcd = nil
	}
	c.releasePort()
	c.releasePort = func() {}
	_ = os.RemoveAll(c.Dir) // a temporary directory: the system clears it too
}

// Namespace makes a namespace with a name of its own, which is deleted at the end of the test. With StartControllers, what is
// in it goes too. It has the service account that pods need.
func (c *Cluster) Namespace(tb testing.TB) string {
	tb.Helper()
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		tb.Fatal(err)
	}
	namespace, err := client.CoreV1().Namespaces().Create(tb.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		tb.Fatalf("make a namespace: %v", err)
	}
	tb.Cleanup(func() {
		if c.etcd == nil {
			return // all of it is gone already
		}
		err := client.CoreV1().Namespaces().Delete(context.WithoutCancel(tb.Context()), namespace.Name, metav1.DeleteOptions{})
		if err != nil {
			tb.Errorf("delete the namespace %s: %v", namespace.Name, err)
		}
	})
	// A controller would make it too, a moment later.
	_, err = client.CoreV1().ServiceAccounts(namespace.Name).Create(tb.Context(),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		tb.Fatalf("make the default service account of %s: %v", namespace.Name, err)
	}
	return namespace.Name
}
