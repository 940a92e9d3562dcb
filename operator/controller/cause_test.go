package controller

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// kubelet has the pod of a chain's indexer be as a kubelet would say.
func (w *world) kubelet(c *v1alpha1.Chain, s corev1.ContainerStatus) {
	w.t.Helper()
	s.Name, s.Image = "indexer", "none.invalid/boardwalk"
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"conditions":        []map[string]string{{"type": "Ready", "status": "False"}},
		"containerStatuses": []corev1.ContainerStatus{s},
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.Status().Patch(w.t.Context(), w.pod(c.Spec.ID), client.RawPatch(types.MergePatchType, patch)); err != nil {
		w.t.Fatal(err)
	}
}

func waiting(reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
}

// ended is a container that a kubelet is about to start again, and how it ended before.
func ended(status int32, reason, message string) corev1.ContainerStatus {
	s := waiting("CrashLoopBackOff", "back-off 10s restarting failed container")
	s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: status, Reason: reason, Message: message}
	return s
}

// TestTheCauseOfAnIndexerThatIsNotReady: whoever is woken at night reads one condition, and that is to say what is wrong.
func TestTheCauseOfAnIndexerThatIsNotReady(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready")
	for _, x := range []struct {
		says corev1.ContainerStatus
		want string
	}{
		{waiting("CreateContainerConfigError", `secret "db-ap" not found`), `SecretMissing secret "db-ap" not found`},
		{waiting("CreateContainerConfigError", `couldn't find key uri in Secret markets/db`), `SecretMissing couldn't find key uri in Secret markets/db`},
		{waiting("CreateContainerConfigError", `container has runAsNonRoot and image will run as root`), `PodRefused CreateContainerConfigError: container has runAsNonRoot`},
		{waiting("ImagePullBackOff", `Back-off pulling image "x"`), `ImageUnavailable Back-off pulling image "x"`},
		{waiting("ErrImageNeverPull", ""), `ImageUnavailable ErrImageNeverPull`},
		{ended(137, "OOMKilled", ""), `OutOfMemory raise spec.indexer.resources.limits.memory`},
		{ended(3, "Error", "{\"msg\":\"waiting\"}\nboardwalk: database: no connection to PostgreSQL at db:5432\n"), `DatabaseUnreachable database: no connection to PostgreSQL at db:5432`},
		{ended(1, "Error", "boardwalk: chain document: it is an older copy"), `IndexerCrashing the indexer ended with status 1: chain document: it is an older copy`},
		{ended(139, "Error", ""), `IndexerCrashing the indexer ended with status 139: Error`},
	} {
		w.clock.advance(lagPause + time.Second) // another message alone is written so late
		w.kubelet(c, x.says)
		w.become(c, "Available False "+x.want, "Ready False "+x.want)
	}
	// The indexer says another cause than the kubelet, and the Chain shows the indexer's.
	w.indexers.says("base", func(s *chainconfig.State) {
		s.Phase, s.Message, s.Cause = chainconfig.PhaseFailing, "dial tcp: connection refused", chainconfig.CauseDatabase
	})
	w.become(c, "Ready False DatabaseUnreachable dial tcp: connection refused")
	w.indexers.says("base")
	w.kubelet(c, corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	w.become(c, "Ready False IndexerUnavailable `kubectl logs -l boardwalk.dev/chain=base`") // nobody says why any more, for more than two minutes
}

// TestNoNodeTakesAnIndexer asks the scheduler, which says so at once.
func TestNoNodeTakesAnIndexer(t *testing.T) {
	w := newWorld(t)
	w.run()
	c := w.chain("base", 8453, func(c *v1alpha1.Chain) {
		c.Spec.Indexer.NodeSelector = map[string]v1alpha1.LabelValue{"disk": "none-has-it"}
	})
	w.become(c, "Available False Unschedulable no node takes the indexer's pod: 0/1 nodes are available", "Ready False Unschedulable")
}

// TestTheCauseOfAChainThatIsBehind: an alert on one of these goes to somebody else than one on another.
func TestTheCauseOfAChainThatIsBehind(t *testing.T) {
	w := newWorld(t)
	w.run()
	c := w.chain("base", 8453)
	for cause, want := range map[chainconfig.Cause]string{
		chainconfig.CauseEndpoints: "EndpointUnreachable", chainconfig.CauseSecret: "SecretMissing", "": "Behind",
	} {
		w.indexers.says("base", behindBy(time.Hour), inPhase(chainconfig.PhaseFailing, "no endpoint answers"), func(s *chainconfig.State) { s.Cause = cause })
		w.become(c, "Available True IndexerRunning", "Synced False "+want+" no endpoint answers", "Ready False "+want)
	}
	w.indexers.says("base", inPhase(chainconfig.PhaseHalted, "eth_chainId is 1"), func(s *chainconfig.State) { s.Cause = chainconfig.CauseWrongChain })
	w.become(c, "Synced False WrongChain eth_chainId is 1", "Ready False WrongChain", "Stalled True WrongChain")
}
