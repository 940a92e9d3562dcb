package serve

import (
	"net/http"
	"strconv"
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

// observers are one operation's histograms by status, looked up once. A nil one observes nothing.
type observers map[int]prometheus.Observer

// of makes the observers of an operation.
func (m *Metrics) of(operation string) observers {
	if m == nil {
		return nil
	}
	out := make(observers)
	for _, status := range []int{
		http.StatusOK, http.StatusNotModified, http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusTooManyRequests, statusClientGone, http.StatusInternalServerError, http.StatusServiceUnavailable,
	} {
		out[status] = m.requests.WithLabelValues(operation, strconv.Itoa(status))
	}
	return out
}

func (o observers) observe(status int, took time.Duration) {
	if histogram := o[status]; histogram != nil {
		histogram.Observe(took.Seconds())
	}
}
