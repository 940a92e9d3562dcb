package browser

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// outcome is how a picture ended.
type outcome string

const (
	outcomeDrawn       outcome = "drawn"
	outcomeBusy        outcome = "busy"
	outcomeUnavailable outcome = "unavailable"
	outcomeDeadline    outcome = "deadline"
	outcomeCancelled   outcome = "cancelled"
	outcomeFailed      outcome = "failed"
)

func outcomeOf(err error) outcome {
	switch {
	case err == nil:
		return outcomeDrawn
	case errors.Is(err, ErrUnavailable):
		return outcomeUnavailable
	case errors.Is(err, ErrDeadline):
		return outcomeDeadline
	case errors.Is(err, context.Canceled):
		return outcomeCancelled
	default:
		return outcomeFailed
	}
}

// Metrics are the renderer's, for Prometheus. A nil one keeps none.
type Metrics struct {
	registry prometheus.Registerer
	outcomes *prometheus.CounterVec
	seconds  prometheus.Histogram
	replaces *prometheus.CounterVec
	failures prometheus.Counter
	held     prometheus.Gauge
}

// NewMetrics registers the metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		registry: r,
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "boardwalk_renderer_pictures_total", Help: "Pictures asked for, by how it ended.",
		}, []string{"outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "boardwalk_renderer_draw_duration_seconds", Help: "Time to draw a picture, without the wait for a tab.",
			Buckets: []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12},
		}),
		replaces: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "boardwalk_renderer_browser_replaced_total",
			Help: "Browsers replaced, by reason: count and memory are planned, ended, hung and tab are faults.",
		}, []string{"reason"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "boardwalk_renderer_browser_start_failures_total", Help: "Browsers that could not be started.",
		}),
		held: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "boardwalk_renderer_browser_memory_bytes", Help: "Memory of the browser's processes.",
		}),
	}
	for _, o := range []outcome{outcomeDrawn, outcomeBusy, outcomeUnavailable, outcomeDeadline, outcomeCancelled, outcomeFailed} {
		m.outcomes.WithLabelValues(string(o))
	}
	for _, why := range []reason{reasonEnded, reasonHung, reasonTab, reasonCards, reasonMemory} {
		m.replaces.WithLabelValues(string(why))
	}
	r.MustRegister(m.outcomes, m.seconds, m.replaces, m.failures, m.held)
	return m
}

// observe tells of a Supervisor's queue.
func (m *Metrics) observe(s *Supervisor) {
	if m == nil {
		return
	}
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "boardwalk_renderer_queue", Help: "Pictures that wait or are drawn.",
		}, func() float64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return float64(s.waiting)
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "boardwalk_renderer_browser_up", Help: "1 while a browser runs that can draw.",
		}, func() float64 {
			if s.Ready() != nil {
				return 0
			}
			return 1
		}),
	)
}

func (m *Metrics) finished(o outcome) {
	if m != nil {
		m.outcomes.WithLabelValues(string(o)).Inc()
	}
}

func (m *Metrics) took(d time.Duration) {
	if m != nil {
		m.seconds.Observe(d.Seconds())
	}
}

func (m *Metrics) replaced(why reason) {
	if m != nil {
		m.replaces.WithLabelValues(string(why)).Inc()
	}
}

func (m *Metrics) startFailed() {
	if m != nil {
		m.failures.Inc()
	}
}

func (m *Metrics) memory(bytes uint64) {
	if m != nil {
		m.held.Set(float64(bytes))
	}
}
