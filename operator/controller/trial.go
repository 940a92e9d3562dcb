package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// triedAgain is the time from when a trial is seen to have failed to the next one: what it lacked may have come. It is this clock's time alone: that
// of the Job is another one's.
const triedAgain = 10 * time.Second

// try tries settings by a Job of the indexers' image, before an indexer that runs is ended for them. why is empty once the Job has succeeded, and
// says else what it waits for or what it failed of.
func (r *chainReconciler) try(ctx context.Context, namespace string, s workload.Settings) (why string, err error) {
	key := types.NamespacedName{Namespace: namespace, Name: workload.TrialName(s.Hash())}
	const waits = "what is new for all indexers is tried first, by Job "
	var job batchv1.Job
	switch err := r.Get(ctx, key, &job); {
	case apierrors.IsNotFound(err):
		err := r.beginTrial(ctx, key, s)
		if isA[*refusedError](err) {
			return err.Error(), nil
		}
		return waits + key.Name, err
	case err != nil:
		return "", fmt.Errorf("read Job %s: %w", key.Name, err)
	case job.DeletionTimestamp != nil:
		return waits + key.Name, nil
	}
	var pods corev1.PodList
	err = r.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels{workload.LabelTrial: job.Labels[workload.LabelTrial]})
	if err != nil {
		return "", fmt.Errorf("list the pods of Job %s: %w", key.Name, err)
	}
	own := slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return !metav1.IsControlledBy(&p, &job) })
	found, succeeded := trialCause(own, r.now())
	if succeeded || jobCondition(&job, batchv1.JobComplete) != nil {
		return "", nil
	}
	failed := jobCondition(&job, batchv1.JobFailed)
	switch {
	case failed == nil && len(own) == 0:
		return waits + key.Name + ", which has no pod yet: kubectl describe job " + key.Name, nil
	case failed == nil && found.reason == "":
		return waits + key.Name, nil
	case failed == nil:
		return waits + key.Name + ": " + said(found.reason, found.message), nil
	}
	if r.mayTryAgain(job.UID) {
		err := r.Delete(ctx, &job, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &job.UID})
		if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) { // another reconciliation was faster
			return "", requestError("delete Job "+key.Name, err)
		}
	}
	return fmt.Sprintf("what is new for all indexers was tried by Job %s, in vain: %s", key.Name, cmp.Or(found.message, failed.Message)), nil
}

// mayTryAgain reports whether a trial that failed has been known to have failed for triedAgain.
func (r *chainReconciler) mayTryAgain(trial types.UID) bool {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed.trial != trial {
		r.failed.trial, r.failed.since = trial, now
	}
	return now.Sub(r.failed.since) >= triedAgain
}

// beginTrial makes the trial's objects. Reconciliations of several chains may do so at once.
func (r *chainReconciler) beginTrial(ctx context.Context, key types.NamespacedName, s workload.Settings) error {
	t := workload.BuildTrial(key.Namespace, s)
	policy := types.NamespacedName{Namespace: key.Namespace, Name: workload.TrialObjects}
	if t.NetworkPolicy != nil {
		err := ensure(ctx, apiServer{r.Client, r.live}, policy, &networkingv1.NetworkPolicy{}, &networkingv1.NetworkPolicyList{}, t.NetworkPolicy,
			networkingv1ac.ExtractNetworkPolicy)
		if err != nil {
			return err
		}
	} else if err := removePolicy(ctx, apiServer{r.Client, r.live}, policy); err != nil {
		return err
	}
	account := types.NamespacedName{Namespace: key.Namespace, Name: workload.TrialObjects}
	err := ensure(ctx, apiServer{r.Client, r.live}, account, &corev1.ServiceAccount{}, &corev1.ServiceAccountList{}, t.ServiceAccount, corev1ac.ExtractServiceAccount)
	if err != nil {
		return err
	}
	if err := r.Apply(ctx, t.Job, client.FieldOwner(FieldOwner), client.ForceOwnership); err != nil {
		return requestError("apply Job "+key.Name, err)
	}
	return nil
}

// trialCause is why a trial doesn't start, or the error that it ended with. succeeded says that its program has ended well, even where another container
// that somebody added runs on, so that the Job never completes.
func trialCause(pods []corev1.Pod, now time.Time) (c cause, succeeded bool) {
	for i := range pods {
		for j := range pods[i].Status.ContainerStatuses {
			s := &pods[i].Status.ContainerStatuses[j]
			ended := s.State.Terminated
			switch {
			case s.Name != workload.Indexer || ended == nil:
			case ended.ExitCode == 0:
				return cause{}, true
			default:
				return cause{reason: ended.Reason, message: cmp.Or(lastLine(ended.Message), ended.Reason)}, false
			}
		}
	}
	return podCause(pods, now), false
}

// jobCondition is a condition of a Job that holds; nil where it doesn't.
func jobCondition(j *batchv1.Job, of batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range j.Status.Conditions {
		if c := &j.Status.Conditions[i]; c.Type == of && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}
