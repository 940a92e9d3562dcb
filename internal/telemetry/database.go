package telemetry

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// databasePatience is how long the database may take to answer whoever collects metrics.
const databasePatience = 2 * time.Second

// Database tells of a program's database, from before it is open.
type Database struct {
	metrics prometheus.Registerer
	ping    atomic.Pointer[func(context.Context) error]
}

// WatchDatabase registers boardwalk_database_up: whether the database answers, asked when metrics are collected, until ctx ends. It is 0 before
// the database is open.
func WatchDatabase(ctx context.Context, r prometheus.Registerer) *Database {
	d := &Database{metrics: r}
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "boardwalk_database_up", Help: "Whether the database answers within two seconds (1).",
	}, func() float64 {
		ping := d.ping.Load()
		if ping == nil {
			return 0
		}
		ctx, cancel := context.WithTimeout(ctx, databasePatience)
		defer cancel()
		if (*ping)(ctx) != nil {
			return 0
		}
		return 1
	}))
	return d
}

// Opened says that the database is open: it is asked by ping, and how the connections of its pools are used is told (go_sql_…, by db_name).
func (d *Database) Opened(ping func(context.Context) error, pools map[string]*sql.DB) {
	for name, pool := range pools {
		d.metrics.MustRegister(collectors.NewDBStatsCollector(pool, name))
	}
	d.ping.Store(&ping)
}

// TellBuild registers boardwalk_build_info: the commit that the program was built from.
func TellBuild(r prometheus.Registerer, commit string) {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "boardwalk_build_info", Help: "1; its labels say what the program was built from.", ConstLabels: prometheus.Labels{"commit": commit},
	})
	info.Set(1)
	r.MustRegister(info)
}
