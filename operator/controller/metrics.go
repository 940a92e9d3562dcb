package controller

import (
	"cmp"
	"context"
	"strings"
	"time"

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

	condition, open, waits *prometheus.Desc
}

func newResourceMetrics(r client.Reader) *resourceMetrics {
	return &resourceMetrics{
		Reader: r,
		condition: prometheus.NewDesc("boardwalk_chain_condition",
			"Conditions of Chains: 1 where it is true, 0 where it is false, -1 where it is unknown.", []string{"chain", "condition", "reason"}, nil),
		open:  prometheus.NewDesc("boardwalk_venue_open", "Whether a venue is open on a chain where it is wanted open (1).", []string{"venue", "chain", "reason"}, nil),
		waits: prometheus.NewDesc("boardwalk_chain_change_waits", "Whether a chain's indexer waits for its turn to be changed (1).", []string{"chain"}, nil),
	}
}

// Describe lists the metrics.
func (m *resourceMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.condition
	ch <- m.open
	ch <- m.waits
}

// Collect reads them. Before the cache has been read there is nothing to tell, and nobody waits for it.
func (m *resourceMetrics) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	m.collectVenues(ctx, ch, m.collectChains(ctx, ch))
}

var conditionValues = map[metav1.ConditionStatus]float64{metav1.ConditionTrue: 1, metav1.ConditionFalse: 0, metav1.ConditionUnknown: -1}

// collectChains gives the ids of the Chains by their names: other metrics have the id.
func (m *resourceMetrics) collectChains(ctx context.Context, ch chan<- prometheus.Metric) (ids map[string]string) {
	ids = map[string]string{}
	var chains v1alpha1.ChainList
	if m.List(ctx, &chains, client.UnsafeDisableDeepCopy) != nil {
		return ids
	}
	told := map[string]bool{}
	for i := range chains.Items {
		c := &chains.Items[i]
		ids[c.Name] = c.Spec.ID
		accepted := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionAccepted)
		if told[c.Spec.ID] || accepted != nil && accepted.Reason == v1alpha1.ReasonDuplicateID {
			continue // an older Chain has the id
		}
		told[c.Spec.ID] = true
		waits := 0.0
		for _, x := range c.Status.Conditions {
			ch <- prometheus.MustNewConstMetric(m.condition, prometheus.GaugeValue, conditionValues[x.Status], c.Spec.ID, x.Type, x.Reason)
			if x.Type == v1alpha1.ConditionAvailable && strings.HasPrefix(x.Message, notChangedYet) {
				waits = 1
			}
		}
		ch <- prometheus.MustNewConstMetric(m.waits, prometheus.GaugeValue, waits, c.Spec.ID)
	}
	return ids
}

func (m *resourceMetrics) collectVenues(ctx context.Context, ch chan<- prometheus.Metric, ids map[string]string) {
	var venues v1alpha1.LaunchVenueList
	if m.List(ctx, &venues, client.UnsafeDisableDeepCopy) != nil {
		return
	}
	told := map[[2]string]bool{}
	for i := range venues.Items {
		v := &venues.Items[i]
		if !meta.IsStatusConditionTrue(v.Status.Conditions, v1alpha1.ConditionAccepted) {
			continue
		}
		for _, s := range v.Status.Chains {
			key := [2]string{v.Spec.ID, s.Chain}
			if told[key] || s.Reason == v1alpha1.ReasonWantedClosed {
				continue
			}
			told[key] = true
			open := 0.0
			if s.State == v1alpha1.VenueOpen {
				open = 1
			}
			ch <- prometheus.MustNewConstMetric(m.open, prometheus.GaugeValue, open, v.Spec.ID, cmp.Or(ids[s.Chain], s.Chain), s.Reason)
		}
	}
}
