// Package site holds the deployment's own words, read from one YAML file: its help menu, its changelog, its sign-in
// providers, the app that share links open, the names of outside sources and the launch board's quality bar. It knows no route and no page.
package site

import (
	_ "embed"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/board"
)

// maxFileBytes is far above any such file: a hundred long changelog entries have some 100 KiB.
const maxFileBytes = 1 << 20

// Site is what the file says. It is a plain value; nobody changes it once it is read.
type Site struct {
	// Resources are the help menu, in its order.
	Resources []Resource
	// Changelog is newest first; entries of one day are ordered by id. No id is also that of a resource, because apps draw
	// both in one menu.
	Changelog []Entry
	// SignIn are the declared providers, whether or not their credentials are there; Providers tells which are.
	SignIn []SignInProvider
	// FigureSources are the outside names of the open list of figure sources.
	FigureSources FigureSources
	// App is where share links lead; nil is nowhere.
	App *App
	// Gate is the quality bar of the launch board; nil is the default one.
	Gate *board.Gate
	// ProvedWalletsAlone keeps wallets off the leaderboard that the platform alone vouches for.
	ProvedWalletsAlone bool
	// BigTradeUSD is the least value in USD of a trade that the feed's filter big shows; 0 is 1,000.
	BigTradeUSD float64
}

// LaunchGate is the quality bar of the launch board.
func (s *Site) LaunchGate() board.Gate {
	if s.Gate == nil {
		return board.DefaultGate()
	}
	return *s.Gate
}

// Resource is one line of the help menu.
type Resource struct {
	ID    string // ^[a-z0-9][a-z0-9-]{0,47}$
	Label string
	Kind  Kind
	// URL is an http or https address, or a path of this deployment that begins with one slash.
	URL string
}

// Kind is what a resource is.
type Kind string

// The kinds that a help menu knows.
const (
	Docs       Kind = "docs"
	Developers Kind = "developers"
	Blog       Kind = "blog"
	Status     Kind = "status"
	Support    Kind = "support"
)

// Entry is one change of the product.
type Entry struct {
	ID    string    // as Resource.ID; links to the entry end in it
	At    time.Time // the day, at midnight UTC
	Label string    // one line
	Text  string    // plain text, "" if the label says it all; an empty line parts paragraphs
}

// Paragraphs are the entry's text, cut at its empty lines and unwrapped.
func (e Entry) Paragraphs() []string {
	var out []string
	var paragraph []string
	for line := range strings.Lines(e.Text + "\n\n") {
		words := strings.Fields(line)
		if len(words) == 0 && len(paragraph) > 0 {
			out = append(out, strings.Join(paragraph, " "))
			paragraph = nil
		}
		paragraph = append(paragraph, words...)
	}
	return out
}

// SignInProvider is an outside identity provider that the deployment may have credentials for.
type SignInProvider struct {
	Provider

	// CredentialsFile is an absolute path. Only whether it holds something is looked at here.
	CredentialsFile string
}

// Provider is a sign-in provider as clients see it.
type Provider struct {
	ID    string // as Resource.ID
	Label string
}

// App is the platform's own app.
type App struct {
	// Label is its name, on buttons and in what unfurls.
	Label string
	// URL is the http or https address that opens a token in it. {mint} and {chain} stand for the token's; what isn't in it
	// is added to its query.
	URL string
}

// Link is the address that opens a token, with the referral code of who shared it; ref may be empty. None of the three has a
// character that means something in an address.
func (a *App) Link(mint, chain, ref string) string {
	u, err := url.Parse(strings.NewReplacer(mintPlace, mint, chainPlace, chain).Replace(a.URL))
	if err != nil {
		return a.URL // can't be: it was checked with such values
	}
	add := func(key, value string) {
		if u.RawQuery != "" {
			u.RawQuery += "&"
		}
		u.RawQuery += key + "=" + value
	}
	if !strings.Contains(a.URL, mintPlace) {
		add("mint", mint)
	}
	if !strings.Contains(a.URL, chainPlace) {
		add("chain", chain)
	}
	if ref != "" {
		add("ref", ref)
	}
	return u.String()
}

const mintPlace, chainPlace = "{mint}", "{chain}"

// FigureSources name the data provider and the venue API that figures may come from; "" where there is none.
type FigureSources struct{ DataProvider, VenueAPI string }

// Providers lists the providers whose credentials file exists and isn't empty, as it is now: a Secret may be mounted or
// taken away while the program runs. It costs one stat for each of the at most four declared.
func (s Site) Providers() []Provider {
	out := make([]Provider, 0, len(s.SignIn))
	for _, p := range s.SignIn {
		if file, err := os.Stat(p.CredentialsFile); err == nil && file.Mode().IsRegular() && file.Size() > 0 {
			out = append(out, p.Provider)
		}
	}
	return out
}

// Load reads the file. Its error names each mistake on a line of its own, with file, line, path, what is wrong and what is
// allowed.
func Load(path string) (Site, error) {
	f, err := os.Open(path)
	if err != nil {
		return Site{}, fmt.Errorf("site file: %w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return Site{}, fmt.Errorf("site file: %w", err)
	}
	return Parse(path, raw)
}

//go:embed default.yaml
var defaults []byte

// Default is what a deployment without a site file says. It fails only on an embedded file that is broken, which the tests
// of this package rule out.
func Default() (Site, error) { return Parse("default.yaml", defaults) }
