// Package people has the members of a platform in a local world: the chains' traders join through a real intake, with wallets that the chain's node
// signs for, come and go, and call tokens.
package people

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/internal/wait"
	"github.com/boardwalkhq/boardwalk/members/client"
)

// Options are what people live by.
type Options struct {
	Intake *client.Client
	// Node signs for Traders, whose wallets the members have.
	Node    *anvil.Node
	Traders []string
	// Tokens are what members call.
	Tokens []Token
	Seed   uint64
	// Every is the time between two signs of who is present, and between two calls.
	Every time.Duration
	Now   func() time.Time
}

// Token is a token that members know.
type Token struct{ Chain, Mint, Symbol string }

// People are the members of a world.
type People struct {
	Options

	rng   *rand.Rand
	ids   []string
	calls int
}

// New has one member for each trader.
func New(o Options) *People {
	p := &People{Options: o, rng: rand.New(rand.NewPCG(o.Seed, 0))}
	for i := range o.Traders {
		p.ids = append(p.ids, fmt.Sprintf("local:%d", i+1))
	}
	return p
}

// Live has everybody join, and then some of them present at any time, until ctx ends. It waits for the intake to be there.
func (p *People) Live(ctx context.Context) error {
	for i := range p.ids {
		for {
			err := p.join(ctx, i)
			var away *url.Error
			if err == nil || !errors.As(err, &away) && ctx.Err() == nil {
				if err != nil {
					return fmt.Errorf("member %s joins: %w", p.ids[i], err)
				}
				break
			}
			if !wait.For(ctx, time.Second) {
				return nil
			}
		}
	}
	for {
		if err := p.appear(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("members are present: %w", err)
		}
		if err := p.call(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("a member calls a token: %w", err)
		}
		if !wait.For(ctx, p.Every) {
			return nil
		}
	}
}

// join writes a member, and their wallet: every third one's is attested, the others sign. Half of the wallets are public.
func (p *People) join(ctx context.Context, i int) error {
	now := p.Now().UTC().Format(time.RFC3339Nano)
	member := map[string]any{"handle": fmt.Sprintf("local_%d", i+1), "joined_at": now, "updated_at": now}
	if err := p.Intake.Do(ctx, http.MethodPut, "/v1/members/"+p.ids[i], member, nil); err != nil {
		return err
	}
	wallet := map[string]any{"public": i%2 == 0, "updated_at": now}
	if i%3 == 2 {
		wallet["attested"] = true
	} else {
		proof, err := p.sign(ctx, i)
		if err != nil {
			return err
		}
		wallet["proof"] = proof
	}
	return p.Intake.Do(ctx, http.MethodPut, "/v1/members/"+p.ids[i]+"/wallets/evm:"+p.Traders[i], wallet, nil)
}

// sign has the node sign a challenge, as a wallet does.
func (p *People) sign(ctx context.Context, i int) (proof map[string]string, err error) {
	var challenge struct{ Text string }
	err = p.Intake.Do(ctx, http.MethodPost, "/v1/wallet-challenges", map[string]string{"member": p.ids[i], "family": "evm", "address": p.Traders[i]}, &challenge)
	if err != nil {
		return nil, err
	}
	var signature string
	if err := p.Node.Call(ctx, &signature, "personal_sign", anvil.ToHex([]byte(challenge.Text)), p.Traders[i]); err != nil {
		return nil, err
	}
	return map[string]string{"text": challenge.Text, "signature": signature}, nil
}

// appear says that some members are present, two thirds of them on average.
func (p *People) appear(ctx context.Context) error {
	var present []string
	for _, id := range p.ids {
		if p.rng.IntN(3) > 0 {
			present = append(present, id)
		}
	}
	return p.Intake.Do(ctx, http.MethodPost, "/v1/presence", map[string]any{"ids": present}, nil)
}

// call has some member call some token. It goes on where the intake refuses the call, as a second call of the same token.
func (p *People) call(ctx context.Context) error {
	if len(p.Tokens) == 0 {
		return nil
	}
	by, token := p.rng.IntN(len(p.ids)), p.Tokens[p.rng.IntN(len(p.Tokens))]
	now := p.Now().UTC().Format(time.RFC3339Nano)
	p.calls++
	err := p.Intake.Do(ctx, http.MethodPut, fmt.Sprintf("/v1/calls/local:%d:%d", p.Now().Unix(), p.calls), map[string]any{
		"member": p.ids[by], "chain": token.Chain, "mint": token.Mint, "updated_at": now,
		"text":       fmt.Sprintf("$%s doubles within the week. What do you say, @local_%d?", token.Symbol, 1+p.rng.IntN(len(p.ids))),
		"token_refs": []map[string]string{{"symbol": token.Symbol, "mint": token.Mint, "chain": token.Chain}},
	}, nil)
	if refused, ok := errors.AsType[*client.RefusedError](err); ok && (refused.Status == http.StatusConflict || refused.Status == http.StatusServiceUnavailable) {
		return nil
	}
	return err
}
