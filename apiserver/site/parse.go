package site

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/boardwalkhq/boardwalk/internal/board"
)

// The most there may be of each thing: what an app's menu, a page and a sign-in screen can show.
const (
	maxResources = 32
	maxEntries   = 500
	maxProviders = 4
)

// rule says which texts a field takes.
type rule struct {
	most    int // characters
	lines   bool
	fits    func(string) bool
	allowed string
	// secret keeps the value out of the error: addresses may carry what is no business of a log.
	secret bool
}

var (
	idPattern     = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	sourcePattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

	idRule    = rule{most: 48, fits: idPattern.MatchString, allowed: "up to 48 of a-z, 0-9 and -, beginning with a letter or digit"}
	labelRule = rule{most: 120, allowed: "one line of up to 120 characters"}
	textRule  = rule{most: 8000, lines: true, allowed: "plain text of up to 8000 characters"}
	urlRule   = rule{
		most: 2048, fits: usableURL, secret: true,
		allowed: "http:// or https:// with a host and no user, or a path that begins with one slash; up to 2048 characters",
	}
	appRule = rule{
		most: 2048, fits: usableAppURL, secret: true,
		allowed: "http:// or https:// with a host and no user, where {mint} and {chain} may stand behind the host; up to 2048 characters",
	}
	nameRule   = rule{most: 40, allowed: "one line of up to 40 characters"}
	fileRule   = rule{most: 4096, fits: filepath.IsAbs, allowed: "an absolute path"}
	sourceRule = rule{
		most: 32, fits: func(s string) bool { return sourcePattern.MatchString(s) && !slices.Contains(ownSources, s) },
		allowed: "up to 32 of a-z, 0-9 and _, beginning with a letter, and none of " + strings.Join(ownSources, ", "),
	}
	kindRule    = rule{most: 48, fits: func(s string) bool { return slices.Contains(kinds, Kind(s)) }, allowed: "docs, developers, blog, status, support"}
	walletsRule = rule{most: 48, fits: func(s string) bool { return s == "all" || s == provedWallets }, allowed: "all, " + provedWallets}
	dayRule     = rule{most: 10, fits: isDay, allowed: "a day of the calendar, such as 2026-03-02"}
)

// provedWallets is the word for wallets whose owner has signed that they are the member's.
const provedWallets = "proved"

var kinds = []Kind{Docs, Developers, Blog, Status, Support}

// ownSources are the figure sources that mean something of their own and can't name an outside one.
var ownSources = []string{
	"chain_transfers", "chain_swaps", "pool_reserves", "curve_state", "declared_peg", "rpc_accounts", "market",
}

// Parse reads a file's content; name stands in errors. Nothing and comments alone are an empty Site.
func Parse(name string, raw []byte) (Site, error) {
	if len(raw) > maxFileBytes {
		return Site{}, fmt.Errorf("%s: is larger than the %d bytes allowed", name, maxFileBytes)
	}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	var doc, more yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return Site{}, nil
	} else if err != nil {
		return Site{}, fmt.Errorf("%s: %w", name, err)
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return Site{}, fmt.Errorf("%s: holds more than one document; allowed: one, without a line of ---", name)
	}
	r := reader{file: name}
	s := r.site(doc.Content[0])
	if err := r.err(); err != nil {
		return Site{}, err
	}
	slices.SortFunc(s.Changelog, func(a, b Entry) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
	return s, nil
}

func (r *reader) site(root *yaml.Node) Site {
	var s Site
	top := r.object(root, "", "resources", "changelog", "signInProviders", "figureSources", "launchBoard", "leaderboard", "feed", "app")
	menu := map[string]string{}
	for _, o := range r.objects(top, "resources", maxResources, "id", "label", "kind", "url") {
		s.Resources = append(s.Resources, Resource{
			ID: r.unique(menu, o), Label: r.text(o, "label", labelRule),
			Kind: Kind(r.text(o, "kind", kindRule)), URL: r.text(o, "url", urlRule),
		})
	}
	for _, o := range r.objects(top, "changelog", maxEntries, "id", "at", "label", "text") {
		e := Entry{ID: r.unique(menu, o), Label: r.text(o, "label", labelRule), Text: r.optional(o, "text", textRule)}
		// A day that can't be read has been reported; the zero time is never answered.
		e.At, _ = time.Parse(time.DateOnly, r.text(o, "at", dayRule))
		s.Changelog = append(s.Changelog, e)
	}
	providers := map[string]string{}
	for _, o := range r.objects(top, "signInProviders", maxProviders, "id", "label", "credentialsFile") {
		s.SignIn = append(s.SignIn, SignInProvider{
			Provider:        Provider{ID: r.unique(providers, o), Label: r.text(o, "label", labelRule)},
			CredentialsFile: r.text(o, "credentialsFile", fileRule),
		})
	}
	if n, ok := top.fields["figureSources"]; ok && !isNull(n) {
		o := r.object(n, "figureSources", "dataProvider", "venueAPI")
		s.FigureSources.DataProvider = r.optional(o, "dataProvider", sourceRule)
		s.FigureSources.VenueAPI = r.optional(o, "venueAPI", sourceRule)
		if d := s.FigureSources.DataProvider; d != "" && d == s.FigureSources.VenueAPI {
			r.fail(n, "figureSources", "dataProvider and venueAPI are both %q; allowed: two different names", d)
		}
	}
	if n, ok := top.fields["launchBoard"]; ok && !isNull(n) {
		if gate, ok := r.object(n, "launchBoard", "gate").fields["gate"]; ok && !isNull(gate) {
			s.Gate = r.gate(gate, "launchBoard.gate")
		}
	}
	if n, ok := top.fields["leaderboard"]; ok && !isNull(n) {
		s.ProvedWalletsAlone = r.optional(r.object(n, "leaderboard", "wallets"), "wallets", walletsRule) == provedWallets
	}
	if n, ok := top.fields["feed"]; ok && !isNull(n) {
		o, big := r.object(n, "feed", "bigTradeUSD"), 0.0
		if r.number(o, "bigTradeUSD", &big); !isNull(o.fields["bigTradeUSD"]) && isNumber(o.fields["bigTradeUSD"]) && !(big > 0) {
			r.fail(n, "feed.bigTradeUSD", "is %v; allowed: a number above 0", big)
		}
		s.BigTradeUSD = big
	}
	if n, ok := top.fields["app"]; ok && !isNull(n) {
		o := r.object(n, "app", "label", "url")
		s.App = &App{Label: r.text(o, "label", nameRule), URL: r.text(o, "url", appRule)}
	}
	return s
}

// gate reads a quality bar, which has the names of the API. What is left out is as in the default one.
func (r *reader) gate(n *yaml.Node, path string) *board.Gate {
	g := board.DefaultGate()
	o := r.object(n, path, "liquidity_usd_min", "liquidity_usd_min_by_chain", "volume_24h_usd_min", "age_s_min", "age_s_max", "holders_min", "curve")
	r.number(o, "liquidity_usd_min", &g.LiquidityUSDMin)
	r.number(o, "volume_24h_usd_min", &g.Volume24hUSDMin)
	r.whole(o, "age_s_min", &g.AgeSMin)
	r.whole(o, "age_s_max", &g.AgeSMax)
	r.whole(o, "holders_min", &g.HoldersMin)
	if chains := o.fields["liquidity_usd_min_by_chain"]; !isNull(chains) {
		g.LiquidityUSDMinByChain = r.amounts(chains, join(path, "liquidity_usd_min_by_chain"))
	}
	if fields := o.fields["curve"]; !isNull(fields) {
		curve := r.object(fields, join(path, "curve"), "progress_pct_min", "buyers_1h_min")
		r.number(curve, "progress_pct_min", &g.ProgressPctMin)
		r.whole(curve, "buyers_1h_min", &g.Buyers1hMin)
	}
	if len(r.errs) == 0 { // else it may be what was not read
		if err := g.Check(); err != nil {
			r.fail(n, "launchBoard", "%s", err)
		}
	}
	return &g
}

// unique reads an object's id, which must not be that of another object seen.
func (r *reader) unique(seen map[string]string, o object) string {
	id := r.text(o, "id", idRule)
	if id == "" {
		return "" // reported
	}
	if first, twice := seen[id]; twice {
		r.fail(o.fields["id"], o.path+".id", "%q is the id of %s already; allowed: an id of its own", id, first)
	} else {
		seen[id] = o.path
	}
	return id
}

func usableURL(s string) bool {
	// A backslash is a slash to browsers.
	if strings.ContainsFunc(s, func(c rune) bool { return c == '\\' || unicode.IsSpace(c) }) {
		return false
	}
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Hostname() != "" && u.User == nil
	case "":
		// Two slashes lead to another host.
		return strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "//")
	default:
		return false
	}
}

// usableAppURL has its places behind the host, so that no token decides where a link leads.
func usableAppURL(s string) bool {
	filled := strings.NewReplacer(mintPlace, "x", chainPlace, "y").Replace(s)
	if strings.HasPrefix(s, "/") || strings.ContainsAny(filled, "{}") || !usableURL(filled) {
		return false
	}
	u, err := url.Parse(filled)
	if err != nil {
		return false
	}
	host := u.Scheme + "://" + u.Host
	return strings.HasPrefix(s, host) && (len(s) == len(host) || strings.ContainsRune("/?#", rune(s[len(host)])))
}

func isDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}
