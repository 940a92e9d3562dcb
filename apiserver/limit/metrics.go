package limit

import "github.com/prometheus/client_golang/prometheus"

// Metrics are what limiters report. A nil one reports nothing.
type Metrics struct {
	fallback         prometheus.Gauge
	allowed, refused prometheus.Counter // by Redis
}

// NewMetrics registers the limiters' metrics: what m decides, and what a Redis limiter that is given the metrics decides
// and whether it has fallen back. There is one m for each registerer.
func NewMetrics(r prometheus.Registerer, m *Memory) *Metrics {
	opts := func(backend, decision string) prometheus.CounterOpts {
		return prometheus.CounterOpts{
			Name:        "boardwalk_limiter_decisions_total",
			Help:        "Requests that the limiter decided on, by where it counts and what it decided.",
			ConstLabels: prometheus.Labels{"backend": backend, "decision": decision},
		}
	}
	out := &Metrics{
		fallback: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "boardwalk_limiter_fallback",
			Help: "1 while requests are counted in this process although Redis is configured.",
		}),
		allowed: prometheus.NewCounter(opts("redis", "allowed")),
		refused: prometheus.NewCounter(opts("redis", "refused")),
	}
	// Memory counts by itself, under locks that it takes anyway: a counter that all processors write to would double the
	// time of a decision.
	r.MustRegister(out.fallback, out.allowed, out.refused,
		prometheus.NewCounterFunc(opts("memory", "allowed"), func() float64 {
			allowed, _ := m.decisions()
			return float64(allowed)
		}),
		prometheus.NewCounterFunc(opts("memory", "refused"), func() float64 {
			_, refused := m.decisions()
			return float64(refused)
		}))
	return out
}

func (m *Metrics) decided(allowed bool) {
	switch {
	case m == nil:
	case allowed:
		m.allowed.Inc()
	default:
		m.refused.Inc()
	}
}

func (m *Metrics) fallenBack(yes bool) {
	switch {
	case m == nil:
	case yes:
		m.fallback.Set(1)
	default:
		m.fallback.Set(0)
	}
}
