package game

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Rules say what is worth how much. The zero value is no set of rules: Default and Parse make them.
type Rules struct {
	XP     XP     `json:"xp"     yaml:"xp"`
	Season Season `json:"season" yaml:"season"`
	// Ranks ascend by MinXP; the first has 0.
	Ranks  []Rank  `json:"ranks"  yaml:"ranks"`
	Badges []Badge `json:"badges" yaml:"badges"`
}

// XP is what is earned on a day.
type XP struct {
	// ActiveDay is for a day with a trade that counts, Token for each token of such trades, up to TokensADay, and Win for each call that won, up to WinsADay.
	ActiveDay  int64 `json:"activeDay"  yaml:"activeDay"`
	Token      int64 `json:"token"      yaml:"token"`
	TokensADay int   `json:"tokensADay" yaml:"tokensADay"`
	Win        int64 `json:"win"        yaml:"win"`
	WinsADay   int   `json:"winsADay"   yaml:"winsADay"`
}

// Season is what a season's end is worth.
type Season struct {
	// Bonus ascends by Places.
	Bonus []Bonus `json:"bonus" yaml:"bonus"`
}

// Bonus is the XP of the places up to Places that no earlier bonus is for.
type Bonus struct {
	Places int   `json:"places" yaml:"places"`
	XP     int64 `json:"xp"     yaml:"xp"`
}

// Rank is what a member with MinXP or more is.
type Rank struct {
	ID    string `json:"id"    yaml:"id"`
	Name  string `json:"name"  yaml:"name"`
	MinXP int64  `json:"minXP" yaml:"minXP"`
}

// Badge is given to who has reached Count of what it is For.
type Badge struct {
	ID   string `json:"id"   yaml:"id"`
	Name string `json:"name" yaml:"name"`
	// Image is the address of a picture; it may be empty.
	Image string `json:"image,omitempty" yaml:"image"`
	For   For    `json:"for"             yaml:"for"`
	Count int64  `json:"count"           yaml:"count"`
}

// For says what is counted for a badge.
type For string

// The conditions of badges. A day counts if the member traded on it.
const (
	// ForDays counts days, ForStreak days without a gap, and ForFullDays days with TokensADay tokens.
	ForDays     For = "days"
	ForStreak   For = "streak"
	ForFullDays For = "fullDays"
	// ForChains is on how many chains the member traded on one day.
	ForChains For = "chains"
	// ForWins counts calls that won, ForWinsADay those of one day.
	ForWins     For = "wins"
	ForWinsADay For = "winsADay"
	// ForSeasons counts seasons at whose end the member had a place, and ForPlace is a place of Count or better.
	ForSeasons For = "seasons"
	ForPlace   For = "place"
	ForXP      For = "xp"
)

var fors = []string{
	string(ForDays), string(ForStreak), string(ForFullDays), string(ForChains), string(ForWins), string(ForWinsADay), string(ForSeasons), string(ForPlace), string(ForXP),
}

// MostPlaces is how many places of a season are kept.
const MostPlaces = 500

const (
	mostBytes = 64 << 10
	mostItems = 100
	mostValue = 1_000_000
	mostADay  = 50
	mostID    = 32
	mostName  = 60
	mostImage = 2048
)

var idPattern = regexp.MustCompile(`^[a-z0-9-]+$`)

//go:embed default.yaml
var defaultRules []byte

// Default are the rules where nobody has declared others.
func Default() *Rules {
	r, err := Parse("the default rules", defaultRules)
	if err != nil {
		panic(err) //nolint:forbidigo // they are a part of the program, and a test reads them
	}
	return r
}

// Read reads a file with rules; without one, the rules are the default ones.
func Read(file string) (*Rules, error) {
	if file == "" {
		return Default(), nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the rules of the game: %w", err)
	}
	return Parse(file, raw)
}

// Parse reads rules from YAML; name stands in errors. All of the rules have to be there.
func Parse(name string, raw []byte) (*Rules, error) {
	if len(raw) > mostBytes {
		return nil, fmt.Errorf("%s: is larger than the %d bytes allowed", name, mostBytes)
	}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	r := &Rules{}
	if err := d.Decode(r); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: has more than one document", name)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

func (r *Rules) check() error {
	c := checker{}
	c.within("xp.activeDay", r.XP.ActiveDay, 0, mostValue)
	c.within("xp.token", r.XP.Token, 0, mostValue)
	c.within("xp.tokensADay", int64(r.XP.TokensADay), 1, mostADay)
	c.within("xp.win", r.XP.Win, 0, mostValue)
	c.within("xp.winsADay", int64(r.XP.WinsADay), 0, mostADay)
	last := int64(0)
	c.within("the number of entries in season.bonus", int64(len(r.Season.Bonus)), 0, mostItems)
	for i, b := range r.Season.Bonus {
		at := fmt.Sprintf("season.bonus[%d]", i)
		c.within(at+".places", int64(b.Places), last+1, MostPlaces)
		c.within(at+".xp", b.XP, 0, mostValue)
		last = int64(b.Places)
	}
	c.within("the number of ranks", int64(len(r.Ranks)), 1, mostItems)
	seen := map[string]bool{}
	for i, k := range r.Ranks {
		at := fmt.Sprintf("ranks[%d]", i)
		c.named(at, k.ID, k.Name, seen)
		if i == 0 {
			c.within(at+".minXP", k.MinXP, 0, 0)
		} else {
			c.within(at+".minXP", k.MinXP, r.Ranks[i-1].MinXP+1, 1_000*mostValue)
		}
	}
	c.within("the number of badges", int64(len(r.Badges)), 0, mostItems)
	clear(seen)
	for i, b := range r.Badges {
		at := fmt.Sprintf("badges[%d]", i)
		c.named(at, b.ID, b.Name, seen)
		if !slices.Contains(fors, string(b.For)) {
			c.fail("%s.for is %q; allowed: %s", at, b.For, strings.Join(fors, ", "))
		}
		c.within(at+".count", b.Count, 1, 1_000*mostValue)
		if b.Image != "" {
			if u, err := url.Parse(b.Image); err != nil || len(b.Image) > mostImage || u.Scheme != "https" || u.Host == "" || u.User != nil {
				c.fail("%s.image: allowed is https:// with a host, up to %d characters", at, mostImage)
			}
		}
	}
	return errors.Join(c.errs...)
}

type checker struct{ errs []error }

func (c *checker) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *checker) within(what string, v, least, most int64) {
	if v < least || v > most {
		c.fail("%s is %d; allowed: %d to %d", what, v, least, most)
	}
}

func (c *checker) named(at, id, name string, seen map[string]bool) {
	if len(id) > mostID || !idPattern.MatchString(id) {
		c.fail("%s.id is %q; allowed: up to %d of a-z, 0-9 and -", at, id, mostID)
	}
	if seen[id] {
		c.fail("%s.id is %q, which another one has", at, id)
	}
	seen[id] = true
	if n := len([]rune(name)); n == 0 || n > mostName || strings.ContainsAny(name, "\n\r") {
		c.fail("%s.name: allowed is one line of 1 to %d characters", at, mostName)
	}
}
