package telemetry

import (
	"context"
	"database/sql"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Database is what can be told of a database.
type Database interface {
	// ConnectionPools are its pools of connections, by what they are for.
	ConnectionPools() map[string]*sql.DB
	Ping(ctx context.Context) error
}

// databasePatience is how long the database may take to answer whoever collects metrics.
const databasePatience = 2 * time.Second

// WatchDatabase registers whether a database answers, boardwalk_database_up, asked when metrics are collected, and its pools (go_sql_…, by db_name). They
// are told until ctx ends.
func WatchDatabase(ctx context.Context, r prometheus.Registerer, d Database) {
	for name, pool := range d.ConnectionPools() {
		r.MustRegister(collectors.NewDBStatsCollector(pool, name))
	}
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "boardwalk_database_up", Help: "Whether the database answers within two seconds (1).",
	}, func() float64 {
		ctx, cancel := context.WithTimeout(ctx, databasePatience)
		defer cancel()
		if d.Ping(ctx) != nil {
			return 0
		}
		return 1
	}))
}

// TellBuild registers boardwalk_build_info: the commit that the program was built from.
func TellBuild(r prometheus.Registerer, commit string) {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "boardwalk_build_info", Help: "1; its labels say what the program was built from.", ConstLabels: prometheus.Labels{"commit": commit},
	})
	info.Set(1)
	r.MustRegister(info)
}
