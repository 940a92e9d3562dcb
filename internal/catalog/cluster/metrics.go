package cluster

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	changed, faults prometheus.Gauge
	errors          *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer, age func() time.Duration) *metrics {
	m := &metrics{
		changed: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "boardwalk_catalog_changed_timestamp_seconds", Help: "When the catalogue last changed; 0 before it is read.",
		}),
		faults: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "boardwalk_catalog_faults", Help: "What is wrong with Chains and LaunchVenues, which aren't served for it; the log says what.",
		}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "boardwalk_catalog_errors_total", Help: "Requests to the Kubernetes API server that failed, by resource and cause.",
		}, []string{"resource", "cause"}),
	}
	r.MustRegister(m.changed, m.faults, m.errors, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "boardwalk_catalog_age_seconds",
		Help: "How long the catalogue may have been out of date: 0 while its resources are watched, else the time since they were.",
	}, func() float64 { return age().Seconds() }))
	return m
}
