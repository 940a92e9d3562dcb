package cards

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// An answered card came from one of these.
const (
	fromMemory = "memory"
	fromShared = "redis"
	fromRender = "render"
	fromStale  = "stale"
	fromNobody = "error"
)

// Metrics are what a Service reports. A nil one reports nothing.
type Metrics struct {
	answered *prometheus.CounterVec
	renders  *prometheus.HistogramVec
	held     prometheus.Gauge
}

// NewMetrics registers the metrics of cards.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		answered: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "boardwalk_cards_total",
			Help: "Cards that were asked for, by kind and by where they came from; stale are old ones while none could be drawn.",
		}, []string{"kind", "from"}),
		renders: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "boardwalk_card_render_duration_seconds", Help: "Renders as the API server waits for them, by kind and outcome.",
			Buckets: []float64{.025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"kind", "outcome"}),
		held: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "boardwalk_cards_cached_bytes", Help: "Size of the cards that are kept in memory.",
		}),
	}
	r.MustRegister(m.answered, m.renders, m.held)
	return m
}

func (m *Metrics) answeredFrom(kind sharecard.Kind, from string) {
	if m != nil {
		m.answered.WithLabelValues(string(kind), from).Inc()
	}
}

func (m *Metrics) rendered(kind sharecard.Kind, took time.Duration, err error) {
	if m == nil {
		return
	}
	outcome := "drawn"
	if err != nil {
		outcome = "failed"
	}
	m.renders.WithLabelValues(string(kind), outcome).Observe(took.Seconds())
}

func (m *Metrics) holds(bytes int) {
	if m != nil {
		m.held.Set(float64(bytes))
	}
}
