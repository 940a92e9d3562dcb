// Package kubetest gives tests a real Kubernetes: etcd and kube-apiserver with RBAC, and on request the controllers, the
// scheduler and nodes. It builds them from source once for a machine (Tool). Tests, hack/bench and make setup use it; nothing
// of it is linked into the program.
//
// Measured on 2 idle cores: Start takes 2.5 to 3 s and 3 s of CPU, StartControllers 0.3 to 0.6 s more, a Deployment of two
// replicas is available 0.2 s later, an API server is back in 2 s, Stop takes 0.1 s. etcd and API server use 350 MB, the
// rest 260 MB. One cluster for a package, started by TestMain, is enough for tests that keep to a Namespace of their own;
// one that stops something starts its own. Building all the tools takes 11 minutes (1,100 s of CPU) and 0.8 GB of cache.
//
// It doesn't show what needs a kubelet, a container runtime or a network: images that can't be pulled, probes, mounts,
// programs that crash, logs, exec, Services, DNS and network policies. Nor does it show a slow disk or several API servers.
// Kubernetes' own controllers act with an administrator's rights, and the Service called kubernetes has no endpoints.
package kubetest
