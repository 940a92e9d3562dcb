package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/porttest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
)

// statementTimeout is what the database's address sets, so that a silent connection is noticed soon.
const statementTimeout = "10s"

// system is the whole of Boardwalk under test: its processes, its database, and the endpoints that it is given.
type system struct {
	dir       string
	dsn       string // as the programs have it
	direct    string // past the proxy
	proxy     *dbserver.Proxy
	processes []*process
	indexers  []*process // those that index; the API's may be among them
	api       *process
	document  *chainconfig.Chain
	chainID   string
	release   []func() // lets the processes' addresses go
}

// newSystem writes the manifests and the chain's document, and makes the database; nothing is started.
func newSystem(ctx context.Context, p *Plan, c simulated, endpoints []any, dir string, server func() (*dbserver.Server, error)) (*system, error) {
	s := &system{dir: dir, chainID: c.id()}
	if err := s.declare(p, c, endpoints); err != nil {
		return nil, err
	}
	if p.Database == "sqlite" {
		s.dsn = "sqlite:" + filepath.Join(dir, "boardwalk.db")
		s.direct = s.dsn
		up, err := s.add("up")
		s.indexers, s.api = []*process{up}, up
		return s, err
	}
	pg, err := server()
	if err != nil {
		return nil, err
	}
	if s.direct, err = pg.Create(ctx, fmt.Sprintf("seed_%d_%d", p.Seed, time.Now().UnixNano())); err != nil {
		return nil, err
	}
	// As a cluster does: a migration has no bound in time, and a connection that falls silent beneath it is waited for.
	schema, err := store.Open(ctx, s.direct)
	if err != nil {
		return nil, err
	}
	if err := schema.Close(); err != nil {
		return nil, err
	}
	if s.proxy, err = dbserver.NewProxy(ctx, s.direct, "statement_timeout", statementTimeout); err != nil {
		return nil, err
	}
	s.dsn = s.proxy.DSN
	for range 1 + btoi(p.Second) {
		ix, err := s.add("indexer")
		if err != nil {
			return nil, err
		}
		s.indexers = append(s.indexers, ix)
	}
	s.api, err = s.add("apiserver")
	return s, err
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// declare writes manifests of the chain with endpoints, and the document that follows from them.
func (s *system) declare(p *Plan, c simulated, endpoints []any) error {
	raw, venues, err := c.manifests()
	if err != nil {
		return err
	}
	var manifest map[string]any
	if err := yaml.Unmarshal(raw, &manifest); err != nil {
		return err
	}
	spec, ok := manifest["spec"].(map[string]any)
	if !ok {
		return errors.New("the chain's manifest has no spec")
	}
	spec["rpc"] = map[string]any{"endpoints": endpoints}
	spec["reorgBlocks"] = cmp.Or(p.ReorgBlocks, reorgBlocks)
	if p.Retention > 0 {
		spec["retention"] = map[string]any{"trades": fmt.Sprintf("%dh", p.Retention)}
	}
	holders := "All"
	if p.Family == familySolana { // there the holders of older tokens are counted from some block on, and which one differs
		holders = "Launches"
	}
	spec["tracking"] = map[string]any{"minLiquidityUSD": "0", "holders": holders}
	if raw, err = yaml.Marshal(manifest); err != nil {
		return err
	}
	manifests := filepath.Join(s.dir, "manifests")
	if err := os.MkdirAll(manifests, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(manifests, "chain.yaml"), raw, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(manifests, "venues.yaml"), venues, 0o600); err != nil {
		return err
	}
	declared, err := declaredIn(manifests)
	if err != nil {
		return err
	}
	s.document = declared.Running[0]
	if raw, _, err = s.document.Encode(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, "chain.json"), raw, 0o600)
}

func (s *system) add(program string) (*process, error) {
	listen, release, err := porttest.Reserve()
	if err != nil {
		return nil, err
	}
	operations, releaseOperations, err := porttest.Reserve()
	if err != nil {
		release()
		return nil, err
	}
	s.release = append(s.release, release, releaseOperations)
	name := program
	if n := len(s.processes); n > 0 {
		name += "-" + strconv.Itoa(n)
	}
	dsn := s.dsn
	if s.proxy != nil {
		dsn += "&application_name=" + name
	}
	p := &process{name: name, log: filepath.Join(s.dir, name+".log"), job: job{
		Program: program, Database: dsn, Manifests: filepath.Join(s.dir, "manifests"), Document: filepath.Join(s.dir, "chain.json"),
		Listen: listen, Operations: operations,
	}}
	s.processes = append(s.processes, p)
	return p, nil
}

func (s *system) start() error {
	for _, p := range s.processes {
		if err := p.start(); err != nil {
			return err
		}
	}
	return nil
}

func (s *system) stop() {
	for _, p := range s.processes {
		p.stop()
	}
	if s.proxy != nil {
		s.proxy.Close()
	}
	for _, release := range s.release {
		release()
	}
}

// indexed is the newest indexed block as the indexers' metrics tell it: the highest of those that answer.
func (s *system) indexed(ctx context.Context) (block int64) {
	for _, p := range s.indexers {
		if m, err := p.metrics(ctx); err == nil {
			block = max(block, int64(m[`boardwalk_indexed_block{chain="`+s.chainID+`"}`]))
		}
	}
	return block
}

// holder is the indexer that has the chain's lease: the first that doesn't say that it waits for it.
func (s *system) holder(ctx context.Context) *process {
	for _, p := range s.indexers {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		raw, err := get(ctx, "http://"+p.job.Operations+chainconfig.StatePath)
		cancel()
		var state chainconfig.State
		if err == nil && json.Unmarshal(raw, &state) == nil && state.Phase != chainconfig.PhaseWaiting && state.Phase != chainconfig.PhaseStarting {
			return p
		}
	}
	return s.indexers[0]
}

func get(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	return io.ReadAll(res.Body)
}

// foundOut says whether an endpoint was outvoted, as some indexer tells it that runs now.
func (s *system) foundOut(ctx context.Context) bool {
	for _, p := range s.indexers {
		m, err := p.metrics(ctx)
		if err != nil {
			continue
		}
		for name, v := range m {
			if v > 0 && strings.HasPrefix(name, "boardwalk_set_aside_total{") && strings.Contains(name, `kind="endpoint"`) &&
				strings.Contains(name, `reason="`+chain.Outvoted+`"`) {
				return true
			}
		}
	}
	return false
}

// metrics are a process's metrics by name and labels.
func (p *process) metrics(ctx context.Context) (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.job.Operations+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	out := map[string]float64{}
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		name, value, labelled := strings.Cut(lines.Text(), "} ")
		if labelled {
			name += "}"
		} else {
			name, value, _ = strings.Cut(lines.Text(), " ")
		}
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			out[name] = v
		}
	}
	return out, nil
}
