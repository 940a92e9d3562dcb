// Package people has the members of a platform in a local world: the chains' traders join through a real intake, with wallets that the chain's node
// signs for, come and go, call tokens and write posts.
package people

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/internal/wait"
	"github.com/boardwalkhq/boardwalk/members/client"
)

// Options are what people live by.
type Options struct {
	Intake *client.Client
	// Node is the node of Chain. It signs for Traders, whose wallets the members have.
	Node    *anvil.Node
	Chain   string
	Traders []string
	// Solana are traders of a local Solana, which sign for themselves. Each member has one of these wallets, too, while there are any.
	Solana []svm.Signer
	// Tokens are what members call.
	Tokens []Token
	Seed   uint64
	// Every is the time between two signs of who is present, between two calls, and between two posts.
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
	// posts are the ids of what was posted. noted is the block up to which a note on a trade was looked for.
	posts []string
	noted uint64
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
		for _, d := range []struct {
			what string
			do   func(context.Context) error
		}{
			{"members are present", p.appear}, {"a member calls a token", p.call}, {"a member writes a post", p.post}, {"a member writes to a trade", p.note},
		} {
			if err := d.do(ctx); err != nil && ctx.Err() == nil {
				return fmt.Errorf("%s: %w", d.what, err)
			}
		}
		if !wait.For(ctx, p.Every) {
			return nil
		}
	}
}

// join writes a member, and their wallets: of the first every third one's is attested, the others sign. Half of the wallets are public.
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
	if err := p.Intake.Do(ctx, http.MethodPut, "/v1/members/"+p.ids[i]+"/wallets/evm:"+p.Traders[i], wallet, nil); err != nil || i >= len(p.Solana) {
		return err
	}
	return p.joinSolana(ctx, i, now)
}

// joinSolana writes a member's wallet on Solana, which signs. One in three is public.
func (p *People) joinSolana(ctx context.Context, i int, now string) error {
	who := p.Solana[i]
	text, err := p.challenge(ctx, i, "solana", who.Key.String())
	if err != nil {
		return err
	}
	return p.Intake.Do(ctx, http.MethodPut, "/v1/members/"+p.ids[i]+"/wallets/solana:"+who.Key.String(), map[string]any{
		"public": i%3 == 0, "updated_at": now, "proof": map[string]string{"text": text, "signature": who.Sign(text)},
	}, nil)
}

// challenge is the text that a member's wallet has to sign.
func (p *People) challenge(ctx context.Context, i int, family, address string) (text string, err error) {
	var challenge struct{ Text string }
	err = p.Intake.Do(ctx, http.MethodPost, "/v1/wallet-challenges", map[string]string{"member": p.ids[i], "family": family, "address": address}, &challenge)
	return challenge.Text, err
}

// sign has the node sign a challenge, as a wallet does.
func (p *People) sign(ctx context.Context, i int) (proof map[string]string, err error) {
	text, err := p.challenge(ctx, i, "evm", p.Traders[i])
	if err != nil {
		return nil, err
	}
	var signature string
	if err := p.Node.Call(ctx, &signature, "personal_sign", anvil.ToHex([]byte(text)), p.Traders[i]); err != nil {
		return nil, err
	}
	return map[string]string{"text": text, "signature": signature}, nil
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

// post has some member write a post that stands alone, a reply, a post to who is in a token, or a comment, in turn.
func (p *People) post(ctx context.Context) error {
	if len(p.Tokens) == 0 {
		return nil
	}
	token := p.Tokens[p.rng.IntN(len(p.Tokens))]
	post := map[string]any{"text": fmt.Sprintf("What do you think of $%s, @local_%d?", token.Symbol, 1+p.rng.IntN(len(p.ids)))}
	switch len(p.posts) % 4 {
	case 0:
		post["kind"] = "post"
	case 1:
		post["kind"], post["parent"], post["text"] = "reply", p.posts[len(p.posts)-1], "Not much. https://example.com/"+token.Mint
	case 2:
		post["kind"], post["chain"], post["mint"] = "family", token.Chain, token.Mint
	default:
		post["kind"], post["chain"], post["mint"] = "comment", token.Chain, token.Mint
	}
	return p.write(ctx, p.rng.IntN(len(p.ids)), post)
}

// write posts as a member.
func (p *People) write(ctx context.Context, by int, post map[string]any) error {
	id := fmt.Sprintf("local:%d:%d", p.Now().Unix(), len(p.posts))
	post["member"], post["updated_at"] = p.ids[by], p.Now().UTC().Format(time.RFC3339Nano)
	if err := p.Intake.Do(ctx, http.MethodPut, "/v1/posts/"+id, post, nil); err != nil {
		return err
	}
	p.posts = append(p.posts, id)
	return nil
}

// transferTopic is keccak256("Transfer(address,address,uint256)").
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

// note has a member write to the last of the purchases that members made since the last time.
func (p *People) note(ctx context.Context) error {
	last, err := p.Node.Latest(ctx)
	if err != nil || p.noted == 0 || p.noted >= last.Number {
		p.noted = last.Number
		return err
	}
	var mints, traders []string
	for _, t := range p.Tokens {
		if t.Chain == p.Chain {
			mints = append(mints, t.Mint)
		}
	}
	if len(mints) == 0 {
		return nil
	}
	for _, t := range p.Traders {
		traders = append(traders, topicOf(t))
	}
	var bought []struct {
		Address, TransactionHash string
		Topics                   []string
	}
	err = p.Node.Call(ctx, &bought, "eth_getLogs", map[string]any{
		"fromBlock": fmt.Sprintf("0x%x", p.noted+1), "toBlock": fmt.Sprintf("0x%x", last.Number), "address": mints, "topics": []any{transferTopic, nil, traders},
	})
	if p.noted = last.Number; err != nil || len(bought) == 0 {
		return err
	}
	log := bought[len(bought)-1]
	return p.write(ctx, slices.Index(traders, log.Topics[2]), map[string]any{
		"kind": "post", "trade": map[string]string{"chain": p.Chain, "tx": log.TransactionHash, "mint": log.Address},
		"text": fmt.Sprintf("I'm in, with @local_%d", 1+p.rng.IntN(len(p.ids))),
	})
}

// topicOf is an account as it stands among the topics of a log.
func topicOf(account string) string {
	return "0x" + strings.Repeat("0", 24) + strings.ToLower(strings.TrimPrefix(account, "0x"))
}
