package cmd

import (
	"errors"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	clustercatalog "github.com/boardwalkhq/boardwalk/internal/catalog/cluster"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
)

// declaration are the flags that say where chains and venues are declared.
type declaration struct {
	cluster

	dirs        []string
	fromCluster bool
}

func (d *declaration) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVarP(&d.dirs, "filename", "f", nil, "folder with manifests of chains and venues; may be given several times")
	f.BoolVar(&d.fromCluster, "from-cluster", false, "read the Chain and LaunchVenue resources of a Kubernetes namespace, and follow their changes")
	d.cluster.register(cmd)
}

// open checks the flags, and the manifests where there are some.
func (d *declaration) open(log *slog.Logger, r prometheus.Registerer) (apiserver.Declarations, error) {
	switch {
	case d.fromCluster && len(d.dirs) > 0:
		return nil, errors.New("-f and --from-cluster exclude each other: give the one that says where the chains are declared")
	case d.fromCluster:
		config, namespace, err := d.connect()
		if err != nil {
			return nil, err
		}
		return clustercatalog.New(config, clustercatalog.Options{Namespace: namespace, Now: now, Log: log, Metrics: r})
	case len(d.dirs) == 0:
		return nil, errors.New("nothing says where the chains are declared: give -f DIR for manifests in files, " +
			"or --from-cluster for resources in Kubernetes")
	case d.namespace != "" || d.kubeconfig != "":
		return nil, errors.New("--namespace and --kubeconfig are for --from-cluster: leave them out beside -f")
	}
	manifests, err := files.Load(d.dirs...)
	if err != nil {
		return nil, err
	}
	declared, err := manifests.Resolve()
	if err != nil {
		return nil, err
	}
	c, err := declared.Catalog()
	if err != nil {
		return nil, err
	}
	return apiserver.FixedDeclarations{Live: catalog.NewLive(c)}, nil
}
