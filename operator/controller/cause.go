package controller

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// cause is why a chain's indexer isn't ready; its reason is empty where nobody has said why.
type cause struct {
	reason, message string
	// until is when it is no cause any more though nothing happens; zero for never.
	until time.Time
}

// reasonOf is the reason that an indexer's own cause has in conditions.
var reasonOf = map[chainconfig.Cause]string{
	chainconfig.CauseDatabase:   v1alpha1.ReasonDatabaseUnreachable,
	chainconfig.CauseEndpoints:  v1alpha1.ReasonEndpointUnreachable,
	chainconfig.CauseSecret:     v1alpha1.ReasonSecretMissing,
	chainconfig.CauseWrongChain: v1alpha1.ReasonWrongChain,
}

// imageReasons are what kubelets say of a container whose image can't be had.
var imageReasons = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable"}

// endedLately is for how long the last end of a container that runs again may be why it isn't ready.
const endedLately = 5 * time.Minute

// podCause is what Kubernetes says of the newest of an indexer's pods that aren't being deleted.
func podCause(pods []corev1.Pod, now time.Time) cause {
	pods = slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool { return !p.DeletionTimestamp.IsZero() })
	if len(pods) == 0 {
		return cause{}
	}
	p := slices.MaxFunc(pods, func(a, b corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	for i := range p.Status.Conditions {
		if x := &p.Status.Conditions[i]; x.Type == corev1.PodScheduled && x.Status == corev1.ConditionFalse && x.Reason == corev1.PodReasonUnschedulable {
			return cause{reason: v1alpha1.ReasonUnschedulable, message: "no node takes the indexer's pod: " + x.Message}
		}
	}
	for i := range p.Status.ContainerStatuses {
		if s := &p.Status.ContainerStatuses[i]; s.Name == workload.Indexer {
			return containerCause(s, now)
		}
	}
	return cause{}
}

func containerCause(s *corev1.ContainerStatus, now time.Time) cause {
	if w := s.State.Waiting; w != nil {
		switch {
		case slices.Contains(imageReasons, w.Reason):
			return cause{reason: v1alpha1.ReasonImageUnavailable, message: cmp.Or(w.Message, w.Reason)} // of two reasons that take turns
		case w.Reason == "CreateContainerConfigError" && strings.Contains(strings.ToLower(w.Message), "secret"):
			return cause{reason: v1alpha1.ReasonSecretMissing, message: w.Message}
		case w.Reason == "CreateContainerConfigError", w.Reason == "CreateContainerError", w.Reason == "RunContainerError":
			return cause{reason: v1alpha1.ReasonPodRefused, message: said(w.Reason, w.Message)}
		}
	}
	ended, until := s.State.Terminated, time.Time{}
	if last := s.LastTerminationState.Terminated; ended == nil && last != nil {
		switch {
		case s.State.Waiting != nil:
			ended = last
		case now.Sub(last.FinishedAt.Time) < endedLately:
			ended, until = last, last.FinishedAt.Add(endedLately)
		}
	}
	out := cause{until: until}
	switch {
	case ended == nil || ended.ExitCode == 0 && ended.Reason != "OOMKilled":
		return cause{}
	case ended.Reason == "OOMKilled":
		out.reason = v1alpha1.ReasonOutOfMemory
		out.message = "the indexer needed more memory than it may have: raise spec.indexer.resources.limits.memory, or the limit of all indexers"
	case ended.ExitCode == chainconfig.ExitDatabase:
		out.reason, out.message = v1alpha1.ReasonDatabaseUnreachable, cmp.Or(lastLine(ended.Message), "the indexer's log says why")
	default:
		out.reason = v1alpha1.ReasonIndexerCrashing
		out.message = fmt.Sprintf("the indexer ended with status %d: %s", ended.ExitCode, cmp.Or(lastLine(ended.Message), ended.Reason))
	}
	return out
}

func said(reason, message string) string {
	if message == "" {
		return reason
	}
	return reason + ": " + message
}

// lastLine is the last line of what a program wrote, which is the error that it ended with.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimPrefix(lines[len(lines)-1], "boardwalk: ")
}
