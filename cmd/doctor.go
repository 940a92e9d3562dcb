package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/doctor"
)

// NewPlugin makes the root command of the binary under the name kubectl-boardwalk, which kubectl runs as `kubectl boardwalk`.
func NewPlugin(build serve.Build) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-boardwalk",
		Short: "Look at Boardwalk in a cluster",
		Long: `Look at Boardwalk in a cluster. It is the boardwalk binary under another name.

  kubectl boardwalk doctor    why what the API serves of a chain is old`,
		Annotations:  map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl boardwalk"},
		SilenceUsage: true, SilenceErrors: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.AddCommand(doctorCommand(), versionCommand(build))
	return root
}

func doctorCommand() *cobra.Command {
	var api, file string
	overrides := &clientcmd.ConfigOverrides{}
	d := &doctor.Doctor{Now: now}
	cmd := &cobra.Command{
		Use:   "doctor [CHAIN]",
		Short: "Find out why what the API serves of a chain is old",
		Long: `Go from the public API to the cause of old data: the API servers, the Chains, their indexers, the databases and the nodes. Nothing is
changed. It takes some five seconds, and reads with your own rights in the cluster: get and list of chains and pods, and create of
pods/portforward.

Each line begins with ok, look or wrong, and says below what to do. CHAIN, its id or the name of its Chain, looks at one alone. The
command fails, with exit code 1, if a line begins with wrong.

--api alone asks an API, such as that of boardwalk up, for how old its data are, and no cluster. With --kubeconfig, --context or --namespace besides,
the cluster is looked at too.`,
		Example: "  boardwalk doctor --namespace production\n  boardwalk doctor base --namespace production --api https://api.example.com\n  boardwalk doctor --api http://localhost:8080\n  kubectl boardwalk doctor      (the same binary as kubectl-boardwalk on PATH)",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) > 0 {
				d.Chain = args[0]
			}
			d.Out = cmd.OutOrStdout()
			if api != "" {
				d.API = doctor.PublicAPI(api)
			}
			named := file != "" || overrides.CurrentContext != "" || overrides.Context.Namespace != ""
			if d.API == nil || named { // an API alone needs no cluster, whatever this machine's kubeconfig names
				if d.Cluster, err = ofKubeconfig(file, overrides); err != nil {
					return err
				}
			}
			if d.Cluster == nil && d.API == nil {
				return errors.New("no Kubernetes cluster is known: give --kubeconfig, or --api with the URL of an API")
			}
			return d.Run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&api, "api", "", "URL of the public API, to look at its data as anybody gets them; without it an API server's pod is asked")
	f.StringVar(&file, "kubeconfig", "", "kubeconfig file; without it that of KUBECONFIG, or ~/.kube/config")
	f.StringVar(&overrides.CurrentContext, "context", "", "context of the kubeconfig file; without it the current one")
	f.StringVarP(&overrides.Context.Namespace, "namespace", "n", "", "namespace of the release; without it that of the context")
	return cmd
}

// ofKubeconfig finds the cluster as kubectl does; nil where no kubeconfig names one.
func ofKubeconfig(file string, overrides *clientcmd.ConfigOverrides) (*doctor.Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	cfg, err := loaded.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, nil //nolint:nilnil // without a cluster the doctor asks the API alone
	}
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	namespace, _, err := loaded.Namespace()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	return doctor.Connect(cfg, namespace)
}
