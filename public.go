package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/caller"
	"github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/apiserver/checker"
	"github.com/boardwalkhq/boardwalk/apiserver/httpapi"
	"github.com/boardwalkhq/boardwalk/apiserver/limit"
	"github.com/boardwalkhq/boardwalk/apiserver/site"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// limitedClients bounds the clients and the /48s of IPv6, each once for every operation that it asks, whose requests are counted
// in memory: at most some 240 MB when all clients use up their limits, and twice that when all are of such networks.
const limitedClients = 200_000

// public are the flags of whoever serves the public API.
type public struct {
	listen, baseURL, docsURL, site, keys, redis, renderer string
	proxies                                               []string
	inFlight                                              int
	behindCache, accessLog                                bool
}

func (p *public) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.listen, "listen", "127.0.0.1:8080", "address of the public API")
	f.StringVar(&p.baseURL, "base-url", "", "where the public reaches the API, as in https://api.example.com; share links begin with it")
	f.StringVar(&p.docsURL, "docs-url", "/docs", "where the documentation is; the API itself answers /docs")
	f.StringVar(&p.site, "site", "", "YAML file with the help menu, the changelog and the sign-in providers (docs/api.md)")
	f.StringVar(&p.keys, "builder-keys", "", "file with the SHA-256 hashes of known builder keys, one a line; it is read again when it changes")
	f.StringVar(&p.redis, "redis", "", "share request limits and share cards through this Redis: redis://…, rediss://… or unix://…; "+
		"BOARDWALK_REDIS is used when the flag isn't given")
	f.StringVar(&p.renderer, "renderer", "", "Unix socket of the renderer (boardwalk renderer), which draws share cards; without one they are answered 503")
	f.StringArrayVar(&p.proxies, "trusted-proxy", nil, "address or CIDR of a proxy whose X-Forwarded-For tells the client; may be given several times")
	f.IntVar(&p.inFlight, "max-in-flight", 0, "most requests that read the database at once, the rest is answered 503; 0 is 16 for each core")
	f.BoolVar(&p.behindCache, "behind-cache", false, "leave the RateLimit header, which is one client's, off answers that a shared cache in front may keep")
	f.BoolVar(&p.accessLog, "access-log", false, "write a log line for each answer")
}

// prepare reads what wasn't given by a flag, so that a password doesn't show in the process list, and checks all of it.
func (p *public) prepare(cmd *cobra.Command) error {
	if env := os.Getenv("BOARDWALK_REDIS"); env != "" && !cmd.Flags().Changed("redis") {
		p.redis = env
	}
	return p.check()
}

// check refuses what can't work, before anything is begun.
func (p *public) check() error {
	if p.inFlight < 0 {
		return fmt.Errorf("--max-in-flight %d: allowed is a number from 0, which means the default", p.inFlight)
	}
	if u, err := url.Parse(p.baseURL); p.baseURL != "" && (err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "") {
		return fmt.Errorf("--base-url %q: allowed is an http:// or https:// address, as in https://api.example.com", p.baseURL)
	}
	if u, err := url.Parse(p.docsURL); err != nil || (!strings.HasPrefix(p.docsURL, "/") && (u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"))) {
		return fmt.Errorf("--docs-url %q: allowed is an http:// or https:// address, or a path that begins with /", p.docsURL)
	}
	return nil
}

// server makes the API server that is to answer at an address. Everything that the flags name is read before it is made;
// closing ends the connections to Redis.
func (p *public) server(at net.Addr, st *store.Store, live *catalog.Live, checks checker.Checker, log *slog.Logger,
	r prometheus.Registerer,
) (server *apiserver.Server, closing func(), err error) {
	closing = func() {}
	base := p.baseURL
	if base == "" {
		base = "http://" + at.String()
		if a, ok := at.(*net.TCPAddr); ok && a.IP.IsUnspecified() {
			log.Warn("links in answers lead where others can't reach them: give --base-url", "base_url", base)
		}
	}
	o := apiserver.Options{
		Store: st, Catalog: live, Build: build(), BaseURL: strings.TrimRight(base, "/"), DocsURL: strings.TrimRight(p.docsURL, "/"),
		Checker:     checks,
		MaxInFlight: p.inFlight, BehindCache: p.behindCache, AccessLog: p.accessLog, Now: now, Log: log, Metrics: httpapi.NewMetrics(r),
	}
	if o.Site, err = loadSite(p.site); err != nil {
		return nil, closing, err
	}
	if o.TrustedProxies, err = caller.ParsePrefixes(p.proxies); err != nil {
		return nil, closing, err
	}
	if p.keys != "" {
		if o.Keys, err = caller.OpenKeys(p.keys, log); err != nil {
			return nil, closing, err
		}
	}
	desk := cards.Options{Metrics: cards.NewMetrics(r), Now: now, Log: log}
	memory := limit.NewMemory(now, limitedClients)
	o.Limiter = memory
	metrics := limit.NewMetrics(r, memory)
	if p.redis != "" {
		var rdb *redis.Client
		if rdb, err = limit.OpenRedis(p.redis); err != nil {
			return nil, closing, err
		}
		closing = func() { _ = rdb.Close() }
		o.Limiter = limit.NewRedis(rdb, memory, limit.RedisOptions{Metrics: metrics, Log: log})
		desk.Redis = rdb
	}
	if p.renderer != "" {
		desk.Renderer = cards.NewClient(p.renderer, now)
		o.Cards = cards.NewDesk(desk)
	}
	server, err = apiserver.New(o)
	return server, closing, err
}

func loadSite(path string) (*site.Site, error) {
	load := site.Default
	if path != "" {
		load = func() (site.Site, error) { return site.Load(path) }
	}
	s, err := load()
	return &s, err
}
