package controller

import (
	"context"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
)

// resourceMetrics tell what the status of each Chain and LaunchVenue says. They are read from the cache when they are collected, so that every
// operator tells them, the one that acts and those that stand by.
type resourceMetrics struct {
	client.Reader

	condition, open, rollout *prometheus.Desc
}

func newResourceMetrics(r client.Reader) *resourceMetrics {
	return &resourceMetrics{
		Reader: r,
		condition: prometheus.NewDesc("boardwalk_chain_condition",
			"Conditions of Chains: 1 where it is true, 0 where it is false, -1 where it is unknown.", []string{"chain", "condition", "reason"}, nil),
		open:    prometheus.NewDesc("boardwalk_venue_open", "Whether a venue is open on a chain where it is wanted open (1).", []string{"venue", "chain", "reason"}, nil),
		rollout: prometheus.NewDesc("boardwalk_chain_change_waits", "Whether a chain's indexer waits for its turn to be changed (1).", []string{"chain"}, nil),
	}
}

// Describe lists the metrics.
func (m *resourceMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.condition
	ch <- m.open
	ch <- m.rollout
}

// Collect reads them.
func (m *resourceMetrics) Collect(ch chan<- prometheus.Metric) {
	ctx := context.Background() // the cache is in memory
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	values := map[metav1.ConditionStatus]float64{metav1.ConditionTrue: 1, metav1.ConditionFalse: 0, metav1.ConditionUnknown: -1}
	var chains v1alpha1.ChainList
	if m.List(ctx, &chains, client.UnsafeDisableDeepCopy) == nil { // before the cache has been read there is nothing to tell
		seen := map[string]bool{}
		for i := range chains.Items {
			c := &chains.Items[i]
			accepted := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionAccepted)
			if seen[c.Spec.ID] || accepted != nil && accepted.Reason == v1alpha1.ReasonDuplicateID {
				continue // another Chain is the one of this id
			}
			seen[c.Spec.ID] = true
			for _, x := range c.Status.Conditions {
				gauge(m.condition, values[x.Status], c.Spec.ID, x.Type, x.Reason)
			}
			waits := 0.0
			if x := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionAvailable); x != nil && strings.HasPrefix(x.Message, notChangedYet) {
				waits = 1
			}
			gauge(m.rollout, waits, c.Spec.ID)
		}
	}
	var venues v1alpha1.LaunchVenueList
	if m.List(ctx, &venues, client.UnsafeDisableDeepCopy) != nil {
		return
	}
	seen := map[[2]string]bool{}
	for i := range venues.Items {
		v := &venues.Items[i]
		for _, s := range v.Status.Chains {
			key := [2]string{v.Spec.ID, s.Chain}
			if seen[key] || s.Reason == v1alpha1.ReasonWantedClosed || !meta.IsStatusConditionTrue(v.Status.Conditions, v1alpha1.ConditionAccepted) {
				continue
			}
			seen[key] = true
			open := 0.0
			if s.State == v1alpha1.VenueOpen {
				open = 1
			}
			gauge(m.open, open, v.Spec.ID, s.Chain, s.Reason)
		}
	}
}
