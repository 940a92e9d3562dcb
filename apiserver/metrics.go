package apiserver

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/apiserver/read"
)

// chainMetrics tell of each chain how old what is answered is. They are worked out when they are collected, so that they grow while nothing
// new comes, whoever is to blame: the chain, its indexer, the database or this process.
type chainMetrics struct {
	view *read.View
	now  func() time.Time

	age, lag, looked *prometheus.Desc
}

func newChainMetrics(v *read.View, now func() time.Time) *chainMetrics {
	return &chainMetrics{
		view: v, now: now,
		age: prometheus.NewDesc("boardwalk_api_chain_data_age_seconds", "The clock less the time of the newest block that answers have of a chain.", []string{"chain"}, nil),
		lag: prometheus.NewDesc("boardwalk_api_chain_lag_seconds",
			"head_lag_s of the heartbeat: the time of the newest announced block less that of the newest indexed one.", []string{"chain"}, nil),
		looked: prometheus.NewDesc("boardwalk_api_database_read", "Whether the last look at the database worked, and wasn't long ago (1).", nil, nil),
	}
}

// Describe lists the metrics.
func (m *chainMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.age
	ch <- m.lag
	ch <- m.looked
}

// Collect works them out.
func (m *chainMetrics) Collect(ch chan<- prometheus.Metric) {
	now := m.now()
	chains, err := m.view.Snapshot().Health(now)
	looked := 1.0
	if err != nil {
		looked = 0
	}
	ch <- prometheus.MustNewConstMetric(m.looked, prometheus.GaugeValue, looked)
	for _, c := range chains {
		if c.Indexed {
			ch <- prometheus.MustNewConstMetric(m.age, prometheus.GaugeValue, now.Sub(time.Unix(c.AsOf, 0)).Seconds(), c.ID)
			ch <- prometheus.MustNewConstMetric(m.lag, prometheus.GaugeValue, float64(c.LagS), c.ID)
		}
	}
}
