package kubetest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

//go:embed stages.yaml
var stages []byte

// StartControllers starts kube-controller-manager, kube-scheduler and kwok with so many nodes (at least one), and returns
// when pods can be scheduled. Deployments roll out, Jobs complete, and what has a deleted owner or namespace is deleted.
// Garbage of custom resources is collected at once if their definitions were among Options.CRDs, else within half a minute
// of their installation.
//
// kwok stands in for kubelet and container runtime: it says of every scheduled pod that it is ready, and of a Job's that it
// has succeeded, whatever its image and probes are, unless that has the label "kubetest: by-hand". A pod that must stay Pending asks for a node that isn't there.
func (c *Cluster) StartControllers(ctx context.Context, nodes int) error {
	if nodes < 1 {
		return fmt.Errorf("%d nodes: pods need at least one", nodes)
	}
	if len(c.controllers) > 0 {
		return errors.New("the controllers are running")
	}
	if err := os.WriteFile(c.file("stages.yaml"), stages, 0o600); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	if err := c.startControllers(ctx, client, nodes); err != nil {
		c.stopControllers()
		return fmt.Errorf("start the controllers: %w", err)
	}
	return nil
}

// startControllers gives them the administrator's rights: the roles of Kubernetes' own controllers are not what is tested.
func (c *Cluster) startControllers(ctx context.Context, client *kubernetes.Clientset, nodes int) error {
	for _, component := range [][]string{
		{
			"kube-controller-manager", "--secure-port=0", "--leader-elect=false", "--kube-api-qps=500", "--kube-api-burst=1000",
			"--root-ca-file=" + c.file("ca.crt"), "--service-account-private-key-file=" + c.file("sa.key"),
		},
		{"kube-scheduler", "--secure-port=0", "--leader-elect=false"},
		{
			"kwok", "--config=" + c.file("stages.yaml"), "--manage-all-nodes", "--node-ip=127.0.0.1",
			"--node-lease-duration-seconds=40",
		},
	} {
		p, err := start(ctx, c.Dir, component[0], append(component[1:], "--kubeconfig="+c.Kubeconfig))
		if err != nil {
			return err
		}
		c.controllers = append(c.controllers, p)
	}
	for i := range nodes {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i)}}
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return until(ctx, "pods can be scheduled", func(ctx context.Context) error { return nodesReady(ctx, client) }, c.controllers...)
}

func (c *Cluster) stopControllers() {
	for _, p := range slices.Backward(c.controllers) {
		p.kill()
	}
	c.controllers = nil
}

// nodesReady takes three components: kwok makes a node ready, the controller manager takes the taint away with which the
// API server began it.
func nodesReady(ctx context.Context, client *kubernetes.Clientset) error {
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, node := range list.Items {
		if len(node.Spec.Taints) > 0 {
			return fmt.Errorf("%s has the taint %s", node.Name, node.Spec.Taints[0].Key)
		}
		if !slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
			return condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
		}) {
			return fmt.Errorf("%s is not ready", node.Name)
		}
	}
	return nil
}
