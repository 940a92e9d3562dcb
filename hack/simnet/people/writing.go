package people

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/boardwalkhq/boardwalk/members/client"
)

// call has some member call some token. It goes on where the intake refuses the call, as a second call of the same token.
func (p *People) call(ctx context.Context) error {
	here := p.here()
	if len(p.Tokens) == 0 || len(here) == 0 {
		return nil
	}
	by, token := oneOf(p.rng, here), oneOf(p.rng, p.Tokens)
	id := p.newID()
	err := p.Intake.Do(ctx, http.MethodPut, "/v1/calls/"+id, map[string]any{
		"member": by.id, "chain": token.Chain, "mint": token.Mint, "updated_at": stamp(p.now()),
		"text":       fmt.Sprintf("$%s doubles within the week. What do you say, @%s?", token.Symbol, oneOf(p.rng, here).handle),
		"token_refs": []map[string]string{{"symbol": token.Symbol, "mint": token.Mint, "chain": token.Chain}},
	}, nil)
	if refused, ok := errors.AsType[*client.RefusedError](err); ok && (refused.Status == http.StatusConflict || refused.Type == "chain-behind") {
		return nil
	}
	if err == nil {
		p.calls = known(p.calls, writing{id, by})
	}
	return err
}

// newID is the id of a call or a post.
func (p *People) newID() string {
	p.written++
	return fmt.Sprintf("local:%d:%d", p.now().Unix(), p.written)
}

// post has some member write a post that stands alone, a reply, a post to those who are in a token, or a comment.
func (p *People) post(ctx context.Context) error {
	here := p.here()
	if len(p.Tokens) == 0 || len(here) == 0 {
		return nil
	}
	by, token := oneOf(p.rng, here), oneOf(p.rng, p.Tokens)
	post := map[string]any{"kind": "post", "text": fmt.Sprintf("What do you think of $%s, @%s?", token.Symbol, oneOf(p.rng, here).handle)}
	switch kind := p.rng.IntN(4); {
	case kind == 1 && len(p.posts) > 0:
		post["kind"], post["parent"], post["text"] = "reply", p.posts[len(p.posts)-1].id, "Not much. https://example.com/"+token.Mint
	case kind == 2:
		post["kind"], post["chain"], post["mint"] = "family", token.Chain, token.Mint
	case kind == 3:
		post["kind"], post["chain"], post["mint"] = "comment", token.Chain, token.Mint
	}
	return p.write(ctx, by, post)
}

// write posts as a member.
func (p *People) write(ctx context.Context, by *member, post map[string]any) error {
	id := p.newID()
	post["member"], post["updated_at"] = by.id, stamp(p.now())
	if err := p.Intake.Do(ctx, http.MethodPut, "/v1/posts/"+id, post, nil); err != nil {
		return err
	}
	p.posts = known(p.posts, writing{id, by})
	return nil
}

// note has a member write to a purchase that a member made since the last time, on each chain. A node that is away doesn't keep members from
// writing to trades on the other chains.
func (p *People) note(ctx context.Context) error {
	here := p.here()
	if len(here) == 0 {
		return nil
	}
	var faults []error
	for _, m := range p.markets {
		bought, err := m.lastPurchase(ctx, here)
		if err == nil && bought != nil {
			err = p.write(ctx, bought.by, map[string]any{
				"kind": "post", "trade": map[string]string{"chain": bought.chain, "tx": bought.tx, "mint": bought.mint},
				"text": fmt.Sprintf("I'm in, with @%s", oneOf(p.rng, here).handle),
			})
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}
