package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// tickerKey is what the index of tokens by their tickers goes by. A contract may name itself at any length.
const tickerKey = "lower(substr(symbol, 1, 40))"

const ofTicker = "SELECT chain, symbol, mint FROM tokens WHERE " + tickerKey + " IN (?) LIMIT ?"

// mostTickers is how many tokens with one ticker are looked at. A ticker that more tokens have names none of them.
const mostTickers = 1_000

// tokenRow names a token by its index.
type tokenRow struct {
	Chain, Symbol string
	Mint          []byte
}

// OnlyWithTicker finds the one token that has a ticker and a price, on whichever chain; ok is false where there is none, or more than one. The ticker's case is
// ignored, and a dollar sign before it; SQLite ignores the case of ASCII, and of other letters where all of them have one case.
func (s Tokens) OnlyWithTicker(ctx context.Context, ticker string) (at TokenAt, ok bool, err error) {
	var spelt []any
	for _, form := range []string{ticker, strings.ToLower(ticker), strings.ToUpper(ticker)} {
		form = strings.Map(lowerASCII, form) // SQLite lowers no other letters
		spelt = append(spelt, form, "$"+form)
	}
	var rows []tokenRow
	err = s.db.Read.NewRaw(ofTicker, database.Among(s.db.IsPostgres(), spelt), mostTickers+1).Scan(ctx, &rows)
	if err != nil {
		return at, false, fmt.Errorf("database: look for a ticker: %w", err)
	}
	if len(rows) > mostTickers {
		return at, false, nil
	}
	rows = slices.DeleteFunc(rows, func(r tokenRow) bool { return !strings.EqualFold(strings.TrimPrefix(r.Symbol, "$"), ticker) })
	listed, err := s.listed(ctx, rows)
	if err != nil || len(listed) != 1 {
		return at, false, err
	}
	return listed[0], true, nil
}

func lowerASCII(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// ListedAt lists the tokens at some addresses that have a price, by their chains.
func (s Tokens) ListedAt(ctx context.Context, mints []market.Address) ([]TokenAt, error) {
	if len(mints) == 0 {
		return nil, nil
	}
	var rows []tokenRow
	err := s.db.Read.NewRaw("SELECT chain, symbol, mint FROM tokens WHERE mint IN (?)", database.Among(s.db.IsPostgres(), addressKeys(mints))).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("database: look for tokens: %w", err)
	}
	return s.listed(ctx, rows)
}

// listed finds out which of some tokens are served and have a price, and gives them by their chains.
func (s Tokens) listed(ctx context.Context, rows []tokenRow) (out []TokenAt, err error) {
	c := model.Columns{Table: "tokens"}
	on := map[string][]market.Address{}
	for i := range rows {
		if chain, served := s.served.chainOf(rows[i].Chain); served {
			on[chain] = append(on[chain], c.Address(rows[i].Mint))
		}
	}
	if c.Err != nil {
		return nil, c.Err
	}
	for _, chain := range slices.Sorted(maps.Keys(on)) {
		for l, err := range s.ListingsOf(ctx, chain, on[chain]) {
			if err != nil {
				return nil, err
			}
			if l.Listed {
				out = append(out, TokenAt{Chain: chain, Mint: l.Mint})
			}
		}
	}
	return out, nil
}
