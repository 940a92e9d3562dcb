package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/porttest"
	"github.com/boardwalkhq/boardwalk/members/client"
	"github.com/boardwalkhq/boardwalk/up"
)

// newIntake is an intake for a program, and a client of it.
func newIntake(t *testing.T) (*up.Members, *client.Client) {
	t.Helper()
	sum := sha256.Sum256([]byte("token"))
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte(hex.EncodeToString(sum[:])), 0o600); err != nil {
		t.Fatal(err)
	}
	at := porttest.Address(t)
	return &up.Members{Listen: at, TokensFile: tokens, Deployment: "http://127.0.0.1:8080"}, &client.Client{Address: "http://" + at, Token: "token", HTTP: &http.Client{}}
}

// somebody becomes a member with one public wallet, on a chain of their own, and trades a token.
type somebody struct {
	*running

	intake                               *client.Client
	handle, chain, family, wallet, token string
	// sign signs a text with the wallet's key.
	sign func(text string) (string, error)
	// buy, othersBuy and sell each make a block: the member buys for more than the chain's least trade, another wallet raises the price, the member sells a part.
	buy, othersBuy, sell func(t *testing.T)
	// until has the chain go on until the API says what is wanted.
	until func(t *testing.T, what string, ok func() bool)
}

// join makes them a member, with a wallet that signs for itself.
func (s *somebody) join(t *testing.T) {
	t.Helper()
	ctx, now := t.Context(), time.Now().UTC().Format(time.RFC3339Nano)
	id := "test:" + s.handle
	var challenge struct{ Text string }
	err := errors.Join(
		s.intake.Do(ctx, http.MethodPut, "/v1/members/"+id, map[string]any{"handle": s.handle, "joined_at": now, "updated_at": now}, nil),
		s.intake.Do(ctx, http.MethodPost, "/v1/wallet-challenges", map[string]string{"member": id, "family": s.family, "address": s.wallet}, &challenge))
	if err != nil {
		t.Fatal(err)
	}
	signature, err := s.sign(challenge.Text)
	if err == nil {
		err = s.intake.Do(ctx, http.MethodPut, "/v1/members/"+id+"/wallets/"+s.family+":"+s.wallet, map[string]any{
			"public": true, "updated_at": now, "proof": map[string]string{"text": challenge.Text, "signature": signature},
		}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// trades are those that the feed tells of them, in their token.
func (s *somebody) trades(t *testing.T) (list []contract.FeedTrade) {
	t.Helper()
	var feed contract.TradeFeed
	s.get(t, "/api/feed/trades", &feed)
	for _, item := range feed.Items {
		var trade contract.FeedTrade
		if err := json.Unmarshal(item, &trade); err != nil {
			t.Fatal(err)
		}
		if trade.Kind == "trade" && trade.Handle == s.handle && trade.Token.Mint == s.token && trade.Token.Chain == s.chain {
			list = append(list, trade)
		}
	}
	return list
}

// isTold has them join, buy and sell: the feed and the stream show the trades, the leaderboard what they earned, and the game what the day was worth.
func (s *somebody) isTold(t *testing.T) {
	t.Helper()
	told := s.follow(t, s.handle)
	s.join(t)
	purchases := 0.0
	s.until(t, "no trade of the member is in the feed", func() bool { // those of before the wallet was watched are none, but have a cost
		s.buy(t)
		purchases++
		return len(s.trades(t)) > 0
	})
	s.othersBuy(t)
	s.sell(t)
	s.until(t, "the sale isn't in the feed", func() bool {
		return slices.ContainsFunc(s.trades(t), func(f contract.FeedTrade) bool { return f.Side == "sell" })
	})
	var dearest, sold float64
	for _, f := range s.trades(t) {
		if f.Side == "sell" {
			sold += f.AmountUSD
		} else {
			dearest = max(dearest, f.AmountUSD)
		}
	}
	var board contract.Leaderboard
	s.until(t, "the member isn't on the leaderboard", func() bool {
		s.get(t, "/api/leaderboard?chain="+s.chain, &board)
		return len(board.Traders) == 1
	})
	m := board.Traders[0]
	if m.Handle != s.handle || m.Wallet == nil || *m.Wallet != s.wallet || m.Sells != 1 || m.Wins != 1 || math.Abs(m.ProceedsUSD-sold) > 0.01*sold || m.RealisedPnlUSD <= 0 ||
		math.Abs(m.RealisedPnlUSD-(m.ProceedsUSD-m.CostUSD)) > 0.01 || m.CostUSD <= 0 || m.CostUSD > purchases*dearest*1.01 || m.Best == nil || m.Best.Mint != s.token {
		t.Errorf("bought %v times for up to %v, and sold for %v USD: %+v", purchases, dearest, sold, m)
	}
	s.until(t, "no event of the stream names the member", told.Load)
	s.until(t, "the member has no XP, or no place in the season", func() bool {
		var profile contract.GameProfile
		var season contract.GameSeason
		s.get(t, "/api/game/profile/"+s.handle, &profile)
		s.get(t, "/api/game/season", &season)
		return profile.XP > 0 && slices.ContainsFunc(season.Entries, func(e contract.GameSeasonEntry) bool {
			return e.Handle == s.handle && e.Score == float64(profile.XP)
		})
	})
}

// follow reads the stream of events until the test ends. It tells whether one has named a member.
func (r *running) follow(t *testing.T, handle string) *atomic.Bool {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/api/live/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		t.Fatalf("the stream answers %s", res.Status)
	}
	told := &atomic.Bool{}
	go func() {
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && strings.Contains(data, `"handle":"`+handle+`"`) {
				told.Store(true)
			}
		}
	}()
	return told
}
