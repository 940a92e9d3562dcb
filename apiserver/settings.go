package apiserver

import (
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/boardwalkhq/boardwalk/apiserver/caller"
	"github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/apiserver/checker"
	"github.com/boardwalkhq/boardwalk/apiserver/limit"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/site"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/keyfile"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// limitedClients bounds the clients and the /48s of IPv6, each once for every operation that it asks, whose requests are counted
// in memory: at most some 240 MB when all clients use up their limits, and twice that when all are of such networks.
const limitedClients = 200_000

// Settings are a platform team's choices for the public API: addresses, files and numbers.
type Settings struct {
	// Listen is the address of the public API.
	Listen string
	// BaseURL is where the public reaches the API; empty is the address that it listens on. DocsURL is where the documentation is.
	BaseURL, DocsURL string
	// SiteFile has the help menu, the changelog and the sign-in providers; empty is the default site.
	SiteFile string
	// KeysFile has the hashes of the builder keys; empty is none.
	KeysFile string
	// Redis is the address of the one that shares limits and cards; empty keeps both in memory.
	Redis string
	// Renderer is the socket of the renderer that draws cards; empty draws none.
	Renderer string
	// TrustedProxies are addresses and CIDRs of the peers whose X-Forwarded-For counts.
	TrustedProxies []string
	// MaxInFlight, MaxEventStreams, MaxConnections, BehindCache and AccessLog are those of Options.
	MaxInFlight            int
	MaxEventStreams        int
	MaxConnections         int
	BehindCache, AccessLog bool
	Build                  serve.Build
}

// Dependencies are what a server by Settings works with.
type Dependencies struct {
	// Address is what it listens on.
	Address net.Addr
	Store   *store.Store
	Catalog *catalog.Live
	Checker checker.Checker
	Metrics prometheus.Registerer
	Now     func() time.Time
	Log     *slog.Logger
}

// NewServer reads the files that the settings name and makes the server; closing ends its connections to Redis.
func (s *Settings) NewServer(d Dependencies) (server *Server, closing func(), err error) {
	closing = func() {}
	base := s.BaseURL
	if base == "" {
		base = "http://" + d.Address.String()
		if a, ok := d.Address.(*net.TCPAddr); ok && a.IP.IsUnspecified() {
			d.Log.Warn("links in answers lead where others can't reach them: give --base-url", "base_url", base)
		}
	}
	o := Options{
		Store: d.Store, Catalog: d.Catalog, Build: s.Build, BaseURL: strings.TrimRight(base, "/"), DocsURL: strings.TrimRight(s.DocsURL, "/"),
		Checker: d.Checker, MaxInFlight: s.MaxInFlight, MaxEventStreams: s.MaxEventStreams, MaxConnections: s.MaxConnections, BehindCache: s.BehindCache, AccessLog: s.AccessLog,
		Now: d.Now, Log: d.Log, Metrics: serve.NewMetrics(d.Metrics),
	}
	if o.Site, err = loadSite(s.SiteFile); err != nil {
		return nil, closing, err
	}
	if o.TrustedProxies, err = caller.ParsePrefixes(s.TrustedProxies); err != nil {
		return nil, closing, err
	}
	if s.KeysFile != "" {
		if o.Keys, err = keyfile.Open(s.KeysFile, "builder keys", d.Log); err != nil {
			return nil, closing, err
		}
	}
	options := cards.Options{Metrics: cards.NewMetrics(d.Metrics), Now: d.Now, Log: d.Log}
	memory := limit.NewMemory(d.Now, limitedClients)
	o.Limiter = memory
	metrics := limit.NewMetrics(d.Metrics, memory)
	if s.Redis != "" {
		var rdb *redis.Client
		if rdb, err = limit.OpenRedis(s.Redis); err != nil {
			return nil, closing, err
		}
		closing = func() { _ = rdb.Close() }
		o.Limiter = limit.NewRedis(rdb, memory, limit.RedisOptions{Metrics: metrics, Log: d.Log})
		options.Redis = rdb
	}
	if s.Renderer != "" {
		options.Renderer = cards.NewClient(s.Renderer, d.Now)
		o.Cards = cards.NewService(options)
	}
	if server, err = New(o); err != nil {
		return nil, closing, err
	}
	return server, closing, d.Metrics.Register(newChainMetrics(server.view, d.Now))
}

func loadSite(path string) (*site.Site, error) {
	load := site.Default
	if path != "" {
		load = func() (site.Site, error) { return site.Load(path) }
	}
	s, err := load()
	return &s, err
}
