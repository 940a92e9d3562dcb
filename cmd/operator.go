package cmd

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/operator"
	"github.com/boardwalkhq/boardwalk/operator/controller"
)

// cluster are the flags of whoever reads resources from Kubernetes.
type cluster struct {
	namespace, kubeconfig string
}

func (c *cluster) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.namespace, "namespace", "", "namespace of the resources; the pod's own when it isn't given, never that of a kubeconfig's context")
	f.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig file, to run outside a cluster; KUBECONFIG is used when the flag isn't given")
}

// podNamespace is where a pod finds the name of its own namespace.
const podNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// connect gives the API server's address and the namespace.
func (c *cluster) connect() (*rest.Config, string, error) {
	file := c.kubeconfig
	if file == "" {
		file = os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	}
	cfg, err := c.config(file)
	if err != nil {
		return nil, "", err
	}
	if c.namespace != "" {
		return cfg, c.namespace, nil
	}
	own, err := os.ReadFile(podNamespace)
	if err != nil {
		return nil, "", errors.New("--namespace is missing: outside a pod there is no namespace of one's own")
	}
	return cfg, strings.TrimSpace(string(own)), nil
}

func (c *cluster) config(file string) (*rest.Config, error) {
	if file == "" {
		cfg, err := rest.InClusterConfig()
		if errors.Is(err, rest.ErrNotInCluster) {
			err = errors.New("no Kubernetes cluster is known: run in a pod, or give --kubeconfig")
		}
		return cfg, err
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return nil, fmt.Errorf("read --kubeconfig %s: %w", file, err)
	}
	return cfg, nil
}

func operatorCommand(build serve.Build) *cobra.Command {
	var (
		cl  cluster
		ops operations
	)
	p := &operator.Program{Metrics: prometheus.NewRegistry(), Now: now}
	cmd := &cobra.Command{
		Use: "operator --database-secret NAME", Short: "Run the Kubernetes operator", Args: cobra.NoArgs,
		Long: `Keep an indexer running for each Chain of a namespace, and say which LaunchVenue is open on which chain.

It needs a Role in that namespace alone, and never reads a Secret: the indexers' pods get the database's address and the
nodes' URLs from theirs.`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if p.Log, err = ops.log(cmd); err != nil {
				return err
			}
			if p.Cluster, p.Namespace, err = cl.connect(); err != nil {
				return err
			}
			p.PodName = os.Getenv("POD_NAME")
			p.Operations = ops.OperationsOptions
			return runTraced(cmd.Context(), build, telemetry.TracesOptions{Service: "boardwalk-operator", Log: p.Log}, p.Run)
		},
	}
	telemetry.TellBuild(p.Metrics, build.Commit)
	cl.register(cmd)
	ops.register(cmd, "127.0.0.1:8081")
	f := cmd.Flags()
	f.StringVar(&p.IndexersFile, "indexers", "",
		"file (YAML) with what holds for the pods of all indexers, as docs/kubernetes.md shows; it is read again when it changes")
	f.StringVar(&p.Workload.Image, "indexer-image", "",
		"image of the indexers, of the operator's own version; without it that of the container \"operator\" of the operator's own pod, whose name is in POD_NAME")
	f.StringVar(&p.Workload.DatabaseSecret, "database-secret", "", "Secret with the address of the indexers' database")
	f.StringVar(&p.Workload.DatabaseKey, "database-secret-key", "uri", "key of that Secret")
	f.BoolVar(&p.LeaderElection, "leader-elect", true, "let one of several operators act")
	_ = cmd.MarkFlagRequired("database-secret")
	cmd.AddCommand(removeIndexersCommand())
	return cmd
}

func removeIndexersCommand() *cobra.Command {
	var (
		cl       cluster
		instance string
	)
	cmd := &cobra.Command{
		Use: "remove-indexers", Short: "Delete the indexers of all chains, as when the operator is uninstalled", Args: cobra.NoArgs,
		Long: `Delete what an operator has made in a namespace: Deployments and all that belongs to them. Chains, LaunchVenues and the
database stay. The operator must have ended, or it makes them again.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, namespace, err := cl.connect()
			if err != nil {
				return err
			}
			return controller.RemoveIndexers(cmd.Context(), cfg, namespace, instance)
		},
	}
	cl.register(cmd)
	cmd.Flags().StringVar(&instance, "instance", "", "delete those of one release alone, by its name")
	return cmd
}
