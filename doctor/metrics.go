package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// metrics are what a pod tells of itself, by name.
func (d *Doctor) metrics(ctx context.Context, pod string, port int32) (map[string]*dto.MetricFamily, error) {
	body, err := d.Cluster.Ask(ctx, pod, port, "/metrics")
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(bytes.NewReader(body))
}

// lookAtDatabases asks each program whether it reaches its database: API servers and indexers may have addresses of their own.
func (d *Doctor) lookAtDatabases(ctx context.Context) {
	pods := d.pods[componentAPI]
	for i := range pods {
		d.lookAtDatabase(ctx, pods[i].Name, operationsPort, nil)
	}
	for _, p := range d.chains {
		if p.pod != nil {
			d.lookAtDatabase(ctx, p.pod.Name, indexerPort, p)
		}
	}
}

func (d *Doctor) lookAtDatabase(ctx context.Context, pod string, port int32, p *report) {
	all, err := d.metrics(ctx, pod, port)
	if err != nil {
		d.say(look, pod, "its metrics can't be read: "+err.Error(), "")
		return
	}
	up := all["boardwalk_database_up"]
	switch {
	case up == nil || len(up.Metric) == 0:
		d.say(look, pod, "it doesn't tell whether it reaches its database", "")
	case up.Metric[0].GetGauge().GetValue() == 1:
		d.say(fine, pod, "the database answers", "")
	default:
		d.say(wrong, pod, "the database doesn't answer", "kubectl logs "+pod+" | grep -i database")
		if p != nil && p.cause == "" {
			p.cause = "its indexer doesn't reach the database"
		}
	}
}

// rpcCounts are an indexer's requests to its endpoints since it started, and those that failed, by endpoint.
type rpcCounts struct{ requests, failures map[string]float64 }

func (d *Doctor) rpcCounts(ctx context.Context, pod string) (c rpcCounts, err error) {
	all, err := d.metrics(ctx, pod, indexerPort)
	if err != nil {
		return c, err
	}
	return rpcCounts{byEndpoint(all["boardwalk_rpc_requests_total"]), byEndpoint(all["boardwalk_rpc_failures_total"])}, nil
}

func byEndpoint(f *dto.MetricFamily) map[string]float64 {
	out := map[string]float64{}
	for _, m := range f.GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "endpoint" {
				out[l.GetValue()] += m.GetCounter().GetValue()
			}
		}
	}
	return out
}

// countRequests reads the first of the two counts that step 5 compares.
func (d *Doctor) countRequests(ctx context.Context) {
	for _, p := range d.chains {
		if p.pod != nil {
			if c, err := d.rpcCounts(ctx, p.pod.Name); err == nil { // step 5 says so where it isn't
				p.asked = &c
			}
		}
	}
}

// lookAtNodes says of how many requests to each endpoint failed since the doctor began.
func (d *Doctor) lookAtNodes(ctx context.Context, began time.Time) {
	if left := watched - d.Now().Sub(began); slices.ContainsFunc(d.chains, func(p *report) bool { return p.pod != nil }) && left > 0 {
		wait.For(ctx, left)
	}
	for _, p := range d.chains {
		if p.pod == nil {
			continue
		}
		now, err := d.rpcCounts(ctx, p.pod.Name)
		if err == nil && p.asked == nil {
			err = errors.New("the first time there was no answer")
		}
		if err != nil {
			d.say(look, p.id, "its indexer's metrics can't be read: "+err.Error(), "")
			continue
		}
		d.judgeNodes(p, &now)
	}
}

func (d *Doctor) judgeNodes(p *report, now *rpcCounts) {
	answering := 0
	for _, endpoint := range slices.Sorted(maps.Keys(now.requests)) {
		asked := now.requests[endpoint] - p.asked.requests[endpoint]
		failed := now.failures[endpoint] - p.asked.failures[endpoint]
		about := p.id + ", " + endpoint
		switch {
		case asked <= 0:
			d.say(fine, about, "it wasn't asked meanwhile", "")
		case failed == 0:
			answering++
			d.say(fine, about, fmt.Sprintf("%.0f requests, none failed", asked), "")
		case failed < asked:
			answering++
			d.say(look, about, fmt.Sprintf("%.0f of %.0f requests failed", failed, asked), "kubectl logs "+p.pod.Name)
		default:
			d.say(wrong, about, fmt.Sprintf("all %.0f requests failed", asked), "kubectl logs "+p.pod.Name+"; boardwalk check --rpc URL asks the node from here")
		}
	}
	if p.isStale && p.cause == "" && answering == 0 {
		p.cause = "none of its endpoints answered meanwhile"
	}
}
