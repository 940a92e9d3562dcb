package httpapi

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are what the API reports. A nil one reports nothing.
type Metrics struct{ requests *prometheus.HistogramVec }

// NewMetrics registers the API's metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "boardwalk_http_request_seconds", Help: "Answers by operation and status.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"operation", "status"})}
	r.MustRegister(m.requests)
	return m
}

func (m *Metrics) request(operation, status string, took time.Duration) {
	if m != nil {
		m.requests.WithLabelValues(operation, status).Observe(took.Seconds())
	}
}
