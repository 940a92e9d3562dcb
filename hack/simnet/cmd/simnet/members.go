package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/people"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/members/client"
)

// mostMembers is how many traders are members. The EVM chains have 34 traders, and the local Solana has more: the members beyond the 34 have a wallet
// there alone. Without a local Solana there are 34.
const mostMembers = 50

// members gives who has the world's members come and go; nil where there are none. All EVM chains have the same accounts; there may be no Solana.
func (s *settings) members(chains []*chain, solana *solanaChain) (live func(context.Context), err error) {
	if s.tokenFile == "" {
		return nil, nil
	}
	token, err := os.ReadFile(s.tokenFile)
	if err != nil {
		return nil, err
	}
	traders := chains[0].world.Traders
	o := people.Options{
		Intake:  &client.Client{Address: s.intake, Token: strings.TrimSpace(string(token)), HTTP: &http.Client{Timeout: 30 * time.Second}},
		Traders: traders[:min(len(traders), mostMembers)], Seed: s.seed, Every: 20 * time.Second, Now: time.Now,
		OnFault: func(err error) { fmt.Println("members: they go on after a fault:", err) },
	}
	for _, c := range chains {
		o.Chains = append(o.Chains, people.Chain{ID: c.manifest.ID, Node: c.world.Node})
		for _, t := range c.world.Tokens {
			if member.CheckSymbol(t.Symbol) == nil {
				o.Tokens = append(o.Tokens, people.Token{Chain: c.manifest.ID, Mint: t.Address, Symbol: t.Symbol})
			}
		}
	}
	if solana != nil {
		signers := solana.world.People
		o.SolanaNode, o.Solana = solana.world.Chain, signers[:min(len(signers), mostMembers)]
		o.Tokens = append(o.Tokens, solana.tokens...)
	}
	p := people.New(o)
	return func(ctx context.Context) {
		if err := p.Live(ctx); err != nil {
			fmt.Println("members:", err)
		}
	}, nil
}
