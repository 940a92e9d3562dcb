package cmd

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/apiserver"
)

// public holds the flags of the programs that serve the public API.
type public struct{ apiserver.Settings }

func (p *public) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.Listen, "listen", "127.0.0.1:8080", "address of the public API")
	f.StringVar(&p.BaseURL, "base-url", "", "where the public reaches the API, as in https://api.example.com; share links begin with it")
	f.StringVar(&p.DocsURL, "docs-url", "/docs", "where the documentation is; the API itself answers /docs")
	f.StringVar(&p.SiteFile, "site", "", "YAML file with the help menu, the changelog and the sign-in providers (docs/api.md)")
	f.StringVar(&p.KeysFile, "builder-keys", "", "file with the SHA-256 hashes of known builder keys, one a line; it is read again when it changes")
	f.StringVar(&p.Redis, "redis", "", "share request limits and share cards through this Redis: redis://…, rediss://… or unix://…; "+
		"BOARDWALK_REDIS is used when the flag isn't given")
	f.StringVar(&p.Renderer, "renderer", "", "Unix socket of the renderer (boardwalk renderer), which draws share cards; without one they are answered 503")
	f.StringArrayVar(&p.TrustedProxies, "trusted-proxy", nil, "address or CIDR of a proxy whose X-Forwarded-For tells the client; may be given several times")
	f.IntVar(&p.MaxInFlight, "max-in-flight", 0, "most requests that read the database at once, the rest is answered 503; 0 is 16 for each core")
	f.IntVar(&p.MaxEventStreams, "max-event-streams", 0, "most open streams of events (/api/live/stream), beyond which it is answered 503; 0 is 5000")
	f.IntVar(&p.MaxConnections, "max-connections", 0, "most open connections, on top of which the quietest is closed; 0 is 8192")
	f.BoolVar(&p.BehindCache, "behind-cache", false, "leave the RateLimit header, which is one client's, off answers that a shared cache in front may keep")
	f.BoolVar(&p.AccessLog, "access-log", false, "write a log line for each answer")
}

// prepare reads what wasn't given by a flag, so that a password doesn't show in the process list, and checks all of it.
func (p *public) prepare(cmd *cobra.Command) error {
	if env := os.Getenv("BOARDWALK_REDIS"); env != "" && !cmd.Flags().Changed("redis") {
		p.Redis = env
	}
	return p.check()
}

// check refuses what can't work, before anything is begun.
func (p *public) check() error {
	if p.MaxInFlight < 0 {
		return fmt.Errorf("--max-in-flight %d: allowed is a number from 0, which means the default", p.MaxInFlight)
	}
	if p.MaxEventStreams < 0 {
		return fmt.Errorf("--max-event-streams %d: allowed is a number from 0, which means the default", p.MaxEventStreams)
	}
	if p.MaxConnections < 0 {
		return fmt.Errorf("--max-connections %d: allowed is a number from 0, which means the default", p.MaxConnections)
	}
	if u, err := url.Parse(p.BaseURL); p.BaseURL != "" && (err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "") {
		return fmt.Errorf("--base-url %q: allowed is an http:// or https:// address, as in https://api.example.com", p.BaseURL)
	}
	if u, err := url.Parse(p.DocsURL); err != nil || (!strings.HasPrefix(p.DocsURL, "/") && (u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"))) {
		return fmt.Errorf("--docs-url %q: allowed is an http:// or https:// address, or a path that begins with /", p.DocsURL)
	}
	return nil
}
