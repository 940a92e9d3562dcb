package serve

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are what the API reports. A nil one reports nothing.
type Metrics struct {
	requests *prometheus.HistogramVec
	open     prometheus.Gauge
	ended    *prometheus.CounterVec
}

// NewMetrics registers the API's metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "boardwalk_http_request_duration_seconds", Help: "Answers by operation and status.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, 1, 5},
		}, []string{"operation", "status"}),
		open: prometheus.NewGauge(prometheus.GaugeOpts{Name: "boardwalk_http_event_streams_open", Help: "Streams of events that are open."}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "boardwalk_http_event_streams_ended_total", Help: "Streams of events that ended, by why: the client went, was too slow, or the service ended.",
		}, []string{"reason"}),
	}
	for _, why := range []string{endedByClient, endedSlow, endedByService} {
		m.ended.WithLabelValues(why)
	}
	r.MustRegister(m.requests, m.open, m.ended)
	return m
}

// streams tells how many streams are open.
func (m *Metrics) streams(open int) {
	if m != nil {
		m.open.Set(float64(open))
	}
}

func (m *Metrics) streamEnded(why string) {
	if m != nil {
		m.ended.WithLabelValues(why).Inc()
	}
}

// statuses lists the statuses that answers may have.
var statuses = []int{
	http.StatusOK, http.StatusNotModified, http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed,
	http.StatusTooManyRequests, statusClientGone, http.StatusInternalServerError, http.StatusServiceUnavailable,
}

// observers are one operation's histograms by status. Each is made when it is first needed: most operations never answer with most of them. A
// nil one observes nothing.
type observers map[int]func() prometheus.Observer

// of makes the observers of an operation.
func (m *Metrics) of(operation string) observers {
	if m == nil {
		return nil
	}
	out := make(observers)
	for _, status := range statuses {
		out[status] = sync.OnceValue(func() prometheus.Observer { return m.requests.WithLabelValues(operation, strconv.Itoa(status)) })
	}
	return out
}

func (o observers) observe(status int, took time.Duration) {
	if histogram := o[status]; histogram != nil {
		histogram().Observe(took.Seconds())
	}
}
