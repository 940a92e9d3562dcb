package doctor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/plain"
)

// Cluster reads an installation's namespace.
type Cluster struct {
	client    client.Reader
	namespace string
	// Ask asks a container of a pod at its port, as `kubectl port-forward` does: it gets past network policies, and needs no address of the pod.
	Ask func(ctx context.Context, pod string, port int32, path string) ([]byte, error)
}

// Connect makes a Cluster of the API server's address. Nothing is asked yet.
func Connect(cfg *rest.Config, namespace string) (*Cluster, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	listing := rest.CopyConfig(cfg)
	listing.Timeout = answerTime
	c, err := client.New(listing, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	f := forwarder{config: cfg, namespace: namespace}
	return &Cluster{client: c, namespace: namespace, Ask: f.ask}, nil
}

func (c *Cluster) chains(ctx context.Context) ([]v1alpha1.Chain, error) {
	var list v1alpha1.ChainList
	err := c.client.List(ctx, &list, client.InNamespace(c.namespace))
	if meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("the cluster has no kind Chain: install the chart with crds.install=true first (%w)", err)
	}
	if err != nil {
		return nil, fmt.Errorf("list the Chains of namespace %s: %w", c.namespace, err)
	}
	return list.Items, nil
}

// pods are those of the installation, by their component.
func (c *Cluster) pods(ctx context.Context) (map[string][]corev1.Pod, error) {
	var list corev1.PodList
	if err := c.client.List(ctx, &list, client.InNamespace(c.namespace), client.MatchingLabels{labelName: product}); err != nil {
		return nil, fmt.Errorf("list the pods of namespace %s: %w", c.namespace, err)
	}
	out := map[string][]corev1.Pod{}
	for i := range list.Items {
		p := &list.Items[i]
		if p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded { // those that were evicted stay for a while
			out[p.Labels[labelComponent]] = append(out[p.Labels[labelComponent]], *p)
		}
	}
	return out, nil
}

// The labels of the pods, and how the chart and the operator use them. The operator's own package has the same names for the indexers.
const (
	labelName      = "app.kubernetes.io/name"
	labelComponent = "app.kubernetes.io/component"
	labelChain     = "boardwalk.dev/chain"
	product        = "boardwalk"

	componentAPI, componentOperator, componentIndexer = "apiserver", "operator", "indexer"

	// An API server answers the public at apiPort, and has its metrics at operationsPort. An indexer has its state and its metrics at indexerPort.
	apiPort, operationsPort, indexerPort int32 = 8080, 8082, 8081
)

// maxAnswer bounds an answer, in bytes, answerTime how long it may take.
const (
	maxAnswer  = 8 << 20
	answerTime = 15 * time.Second
)

// forwarder reaches pods through the Kubernetes API server and the kubelet.
type forwarder struct {
	config    *rest.Config
	namespace string
}

func (f *forwarder) ask(ctx context.Context, pod string, port int32, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	stop, ready := make(chan struct{}), make(chan struct{})
	defer close(stop)
	forward, err := f.forward(pod, port, stop, ready)
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- forward.ForwardPorts() }()
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("forward a port to pod %s: %w", pod, ctx.Err())
	case err := <-ended:
		if err != nil && strings.Contains(err.Error(), "forbidden") {
			err = fmt.Errorf("%w; it takes the right to create pods/portforward", err)
		}
		return nil, fmt.Errorf("forward a port to pod %s: %w", pod, err)
	case <-ready:
	}
	ports, err := forward.GetPorts()
	if err != nil {
		return nil, err
	}
	return get(ctx, &http.Client{Timeout: answerTime}, fmt.Sprintf("http://127.0.0.1:%d%s", ports[0].Local, path))
}

// forward goes by WebSocket, and by SPDY where the API server doesn't know that way yet.
func (f *forwarder) forward(pod string, port int32, stop <-chan struct{}, ready chan struct{}) (*portforward.PortForwarder, error) {
	config := rest.CopyConfig(f.config)
	config.APIPath, config.GroupVersion, config.NegotiatedSerializer = "/api", &corev1.SchemeGroupVersion, clientgoscheme.Codecs.WithoutConversion()
	c, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	to := c.Post().Namespace(f.namespace).Resource("pods").Name(pod).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, err
	}
	old := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, to)
	webSocket, err := portforward.NewSPDYOverWebsocketDialer(to, config)
	if err != nil {
		return nil, err
	}
	dialer := portforward.NewFallbackDialer(webSocket, old, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	return portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{fmt.Sprintf("0:%d", port)}, stop, ready, io.Discard, io.Discard)
}

func get(ctx context.Context, c *http.Client, url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s", r.URL.Path, plain.AtMost(answer.Status, 100))
	}
	return body, err
}
