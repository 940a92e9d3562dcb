// Package people has the members of a platform in a local world: traders of its chains join through a real intake, with wallets that sign, call tokens, write posts
// and notes on their trades, come and go. Their trades are made elsewhere.
package people

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/internal/wait"
	"github.com/boardwalkhq/boardwalk/members/client"
)

// Options are what people live by.
type Options struct {
	Intake *client.Client
	// Chains are the EVM chains that run. Traders have their accounts on all of them, and the first one's node signs for them.
	Chains  []Chain
	Traders []string
	// SolanaNode is the local Solana, and nil where none runs. Solana are traders of it, who sign for themselves.
	SolanaNode *svm.Chain
	Solana     []svm.Signer
	// Tokens are what members call.
	Tokens []Token
	Seed   uint64
	// Every is the time between two rounds. In each one members come and go, some are present, one calls a token, and one writes a post.
	Every time.Duration
	Now   func() time.Time
	// OnFault, if set, hears why a round was broken off. Members go on with the next one.
	OnFault func(error)
}

// Chain is an EVM chain that members trade on.
type Chain struct {
	ID   string
	Node *anvil.Node
}

// Token is a token that members know.
type Token struct{ Chain, Mint, Symbol string }

// People are the members of a world.
type People struct {
	Options

	members []*member
	// rng is of what members write, and turns of when they come and go: what happens on the chains changes the former alone.
	rng, turns *rand.Rand
	markets    []market
	// calls and posts are the newest ones that can be deleted; written counts all of them.
	calls, posts []writing
	written      int
	// fault is the text of the last round's fault; empty for none.
	fault string
}

// New has one member for each trader. The first trader of the EVM chains and the first one of Solana are one member, and so on; members beyond the shorter
// list have one wallet.
func New(o Options) *People {
	p := &People{Options: o, rng: rand.New(rand.NewPCG(o.Seed, 0)), turns: rand.New(rand.NewPCG(o.Seed, 1))}
	for i := range max(len(o.Traders), len(o.Solana)) {
		p.members = append(p.members, p.newMember(i))
	}
	for _, c := range o.Chains {
		p.markets = append(p.markets, newEVMMarket(c, o.Tokens))
	}
	if o.SolanaNode != nil {
		p.markets = append(p.markets, &solanaMarket{node: o.SolanaNode})
	}
	return p
}

// Live has members join, and then goes on in rounds until ctx ends. It waits for an intake or a node that is away. An error is an answer of the intake that
// says that this program is wrong.
func (p *People) Live(ctx context.Context) error {
	for {
		pause := p.Every
		err := p.gather(ctx)
		if err != nil {
			pause = min(pause, time.Second)
		} else {
			err = p.round(ctx)
		}
		if isWrong(err) {
			return err
		}
		if ctx.Err() == nil {
			p.tell(err)
		}
		if !wait.For(ctx, pause) {
			return nil
		}
	}
}

// isWrong reports whether the intake refused a request that would be refused again. A challenge is unknown after five minutes, as when the machine was suspended.
func isWrong(err error) bool {
	refused, ok := errors.AsType[*client.RefusedError](err)
	return ok && refused.Status < http.StatusInternalServerError && refused.Type != "challenge-unknown"
}

// tell says why a round was broken off, once for all rounds in a row that are broken off for the same reason.
func (p *People) tell(err error) {
	was := p.fault
	if p.fault = ""; err != nil {
		p.fault = err.Error()
	}
	if p.fault != "" && p.fault != was && p.OnFault != nil {
		p.OnFault(err)
	}
}

// gather has everybody join who is a member from the start and hasn't joined yet.
func (p *People) gather(ctx context.Context) error {
	for _, m := range p.members {
		if m.joined || m.late {
			continue
		}
		if err := p.join(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// round is what members do at one time. Notes come last, since they alone ask the nodes of all chains.
func (p *People) round(ctx context.Context) error {
	for _, d := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"members come and go", p.comeAndGo},
		{"members are present", p.appear},
		{"a member calls a token", p.call},
		{"a member writes a post", p.post},
		{"a member writes to a trade", p.note},
	} {
		if err := d.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", d.what, err)
		}
	}
	return nil
}

// appear says that some members are present, two thirds of them on average.
func (p *People) appear(ctx context.Context) error {
	present := []string{}
	for _, m := range p.here() {
		if p.rng.IntN(3) > 0 {
			present = append(present, m.id)
		}
	}
	return p.Intake.Do(ctx, http.MethodPost, "/v1/presence", map[string]any{"ids": present}, nil)
}

// here are the members who have joined and haven't left.
func (p *People) here() (list []*member) {
	for _, m := range p.members {
		if m.here {
			list = append(list, m)
		}
	}
	return list
}

// oneOf chooses from a list that isn't empty.
func oneOf[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

// now is the wall clock's time: the intake's hour goes on while this machine is suspended, and a monotonic clock doesn't.
func (p *People) now() time.Time { return p.Now().Round(0).UTC() }

// stamp is a time as the intake takes it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
