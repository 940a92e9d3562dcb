package boards

import (
	"context"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// firstTime bounds what is read at the first look of a chain.
const firstTime = 2 * time.Minute

// source is what a chain's tokens are read from.
type source struct {
	store *store.Store
	now   func() time.Time
	in    *declared.Catalog
}

func (r *Ranker) source(in *declared.Catalog) *source { return &source{r.store, r.now, in} }

// read takes in what a chain's commits changed; c says what that is, or is nil where nothing was read yet. When it fails,
// what it read is kept, and read again the next time but for the trades of whole blocks.
func (b *chainTokens) read(ctx context.Context, src *source, status store.ChainStatus, c *store.Changed) error {
	limit := figures.LookTime
	if c == nil {
		limit = firstTime
		c = &store.Changed{Trades: true, Quotes: true, Metadata: true, Trust: true}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	was := b.status
	b.status = status
	if since := max(was.Last.Time, b.gapRead); b.seen > 0 && status.Last.Time-since > readBack {
		if err := b.readGap(ctx, src, since); err != nil {
			b.status = was
			return err
		}
	}
	for _, mint := range c.Tokens {
		if e := b.entry(mint); e != nil {
			b.want(e)
		}
	}
	for _, step := range []struct {
		wanted bool
		read   func(context.Context, *source) error
	}{
		{true, func(ctx context.Context, src *source) error { return b.readLaunches(ctx, src, c.Launches) }},
		{c.Trades, b.readFlows},
		{true, b.readTokens},
		{c.Quotes, b.readQuotes},
		{true, b.readHour},
		{true, b.readLastHours},
		{c.Metadata, b.readMetadata},
		{c.Trust, b.readTrust},
	} {
		if !step.wanted {
			continue
		}
		if err := step.read(ctx, src); err != nil {
			b.status = was
			return err
		}
	}
	b.seen = status.CommitNo
	return nil
}

// readLaunches takes in the launches that changed, at first all that the board keeps. Whether it keeps an older one that
// changed hangs on its trades, which are read with its token.
func (b *chainTokens) readLaunches(ctx context.Context, src *source, changed []market.Address) error {
	if b.seen == 0 {
		return b.readFirst(ctx, src)
	}
	list, err := src.store.Launches.ByMint(ctx, b.chain, changed)
	if err != nil {
		return err
	}
	for i := range list {
		l := &list[i]
		launched := NewLaunched(l)
		if e := b.entry(l.Mint); b.keeps(launched, 0) || (e != nil && e.launch != nil) {
			b.take(b.at(l.Mint), launched)
		} else {
			e = b.at(l.Mint)
			e.mayReturn = true
			b.want(e)
		}
	}
	return nil
}

// readGap asks for the launches that came back by being traded since a time that lies further back than trades are read, as after an outage of the
// database: nothing else tells of them.
func (b *chainTokens) readGap(ctx context.Context, src *source, since int64) error {
	until := b.status.Last.Time
	traded, err := src.store.Launches.TradedSince(ctx, b.chain, since)
	if err != nil {
		return err
	}
	for _, mint := range traded {
		if e := b.at(mint); e.launch == nil {
			e.mayReturn = true
			b.want(e)
		}
	}
	b.gapRead = until
	return nil
}

// readFirst takes in all launches that the board keeps. They come the oldest first. Those whose curve was never traded are as many
// as anybody cares to make: of them it keeps as many of the newest as of all.
func (b *chainTokens) readFirst(ctx context.Context, src *source) error {
	now := b.hour()
	var untraded []*Launched
	for l, err := range src.store.Launches.OfLate(ctx, b.chain, store.OfLate{
		MadeAfter: now - launchAge, TradedAfter: now - quietAge, UntradedAfter: now - untradedAge,
	}) {
		if err != nil {
			return err
		}
		launched := NewLaunched(&l)
		if l.Traded || !launched.HasCurve {
			b.take(b.at(l.Mint), launched)
			continue
		}
		if untraded = append(untraded, launched); len(untraded) > b.most {
			untraded[0] = nil
			untraded = untraded[1:]
		}
	}
	for _, l := range untraded {
		b.take(b.at(l.Mint), l)
	}
	return nil
}

// take gives an entry its launch. Only a reorg gives a launch another venue, and after a reorg the chain is read anew.
func (b *chainTokens) take(e *entry, l *Launched) {
	if e.board != nil {
		l.moveTo(e.board.venue)
	}
	if e.launch != nil {
		l.Name, l.Symbol = same(l.Name, e.launch.Name), same(l.Symbol, e.launch.Symbol)
		if l.GraduatedAt != e.launch.GraduatedAt {
			b.want(e) // which its figures hang on
		}
	}
	e.launch, e.isReread, e.mayReturn = l, true, false
	e.exclude()
	b.touch(e)
}

// same is a text in the memory of another that is equal to it.
func same(text, other string) string {
	if text == other {
		return other
	}
	return text
}

// sameMetadata is metadata in the memory of other that is equal to it.
func sameMetadata(m, other *figures.Metadata) *figures.Metadata {
	if m != nil && other != nil && *m == *other {
		return other
	}
	return m
}

// exclude leaves those out of the count of wallets who have part in the launch.
func (e *entry) exclude() {
	if e.launch == nil || e.tape == nil {
		return
	}
	for _, who := range e.launch.Excluded() {
		e.tape.Exclude(who)
	}
}

// readBack is how far back trades are read for tapes that begin: a wallet that trades on keeps the rest of its older trades, so that the
// tapes of a chain that is read anew must have them, too. What is older than this has come down to less than a two millionth.
const readBack = 3 * traction.Window

// readFlows puts new trades on the tapes, a whole block at a time.
func (b *chainTokens) readFlows(ctx context.Context, src *source) error {
	var block []store.Flow
	for f, err := range src.store.Trades.Flows(ctx, b.chain, b.nextTrades, b.status.Last.Time-readBack) {
		if err != nil {
			return err
		}
		if len(block) > 0 && block[0].Block != f.Block {
			b.bookTrades(block)
			block = block[:0]
		}
		block = append(block, f)
	}
	b.bookTrades(block)
	return nil
}

func (b *chainTokens) bookTrades(block []store.Flow) {
	for i := range block {
		f := &block[i]
		b.nextTrades = f.Block + 1
		e := b.at(f.Base)
		if e.tape == nil {
			e.tape = &traction.Tape{}
			e.exclude()
		}
		e.tape.Add(flowOf(f))
		e.flowAt = max(e.flowAt, uint32(f.Time))
		b.touch(e)
	}
}

// readTokens reads the tokens that are new or have changed, with their pools, and the launches of those that came back by
// being traded.
func (b *chainTokens) readTokens(ctx context.Context, src *source) error {
	for len(b.unread) > 0 {
		part := b.unread[max(0, len(b.unread)-tokensAtOnce):]
		mints := make([]market.Address, len(part))
		var older []market.Address
		for i, e := range part {
			mints[i] = e.mint
			if e.launch == nil && (e.facts == nil || e.mayReturn) {
				older = append(older, e.mint)
			}
		}
		found, err := figures.Read(ctx, src.store, src.now(), mints)
		if err != nil {
			return err
		}
		launches, err := src.store.Launches.At(ctx, older)
		if err != nil {
			return err
		}
		for _, e := range part {
			b.index.setFacts(e, b.factsIn(found[e.mint], e))
			e.isUnread, e.isReread = false, true
			b.touch(e)
		}
		clear(part)
		b.unread = b.unread[:len(b.unread)-len(part)]
		for i := range launches {
			if l := &launches[i]; l.Chain == b.chain {
				if err := b.comeBack(ctx, src, NewLaunched(&l.Launch)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// factsIn gives the facts of this chain's token among the tokens of all chains at an entry's address, or nil if this chain has none.
func (b *chainTokens) factsIn(tokens []figures.Token, e *entry) *figures.Facts {
	i := slices.IndexFunc(tokens, func(t figures.Token) bool { return t.Chain == b.chain })
	if i < 0 {
		return nil
	}
	f := figures.NewFacts(&tokens[i])
	if e.facts != nil {
		f.Name, f.Symbol, f.Metadata = same(f.Name, e.facts.Name), same(f.Symbol, e.facts.Symbol), sameMetadata(f.Metadata, e.facts.Metadata)
	}
	if e.launch != nil {
		f.Name, f.Symbol = same(f.Name, e.launch.Name), same(f.Symbol, e.launch.Symbol)
	}
	return &f
}

// comeBack takes an older launch in that is traded again, with what is read of others as it changes.
func (b *chainTokens) comeBack(ctx context.Context, src *source, l *Launched) error {
	e := b.at(l.Mint)
	if e.mayReturn = !b.keeps(l, e.tradedAt()); e.mayReturn {
		return nil
	}
	b.take(e, l)
	if b.seen == 0 {
		return nil // all reports are still to be read
	}
	report, ok, err := src.store.Trust.At(ctx, b.chain, l.Mint)
	e.checked = ok && report.Critical
	return err
}

// readQuotes takes over the prices of the quote assets. When one becomes known, or is known no more, everything is valued
// anew; else a price only moves what is shown.
func (b *chainTokens) readQuotes(ctx context.Context, src *source) error {
	all, err := src.store.Pools.Quotes(ctx)
	if err != nil {
		return err
	}
	usd, at := make(figures.Prices, 0, len(all[b.chain])), make(map[market.Address]figures.Stamp)
	for _, q := range all[b.chain] {
		usd, at[q.Asset] = append(usd, q.QuotePrice), q.Changed
	}
	slices.SortFunc(usd, func(a, b market.QuotePrice) int { return a.Asset.Compare(b.Asset) })
	if slices.Equal(usd, b.usd) && b.usd != nil {
		return nil
	}
	same := slices.EqualFunc(usd, b.usd, func(q, old market.QuotePrice) bool {
		return q.Asset == old.Asset && (old.USD > 0) == (q.USD > 0) && old.Pegged == q.Pegged
	})
	b.usd, b.usdChanged = usd, at
	b.usdNo++
	if !same {
		for e := range b.index.all() {
			b.touch(e)
		}
	}
	return nil
}

// readMetadata takes in what was fetched beside the chain: of tokens that were read before.
func (b *chainTokens) readMetadata(ctx context.Context, src *source) error {
	if b.seen == 0 {
		return nil // each token was read with its own
	}
	list, err := src.store.Metadata.Since(ctx, b.chain, b.seen)
	if err != nil {
		return err
	}
	for i := range list {
		if e := b.entry(list[i].Mint); e != nil && e.facts != nil { // else they come with its token
			b.index.setFacts(e, e.facts.With(sameMetadata(figures.NewMetadata(&list[i]), e.facts.Metadata)))
			b.touch(e)
		}
	}
	return nil
}

// readTrust takes in what was checked beside the chain.
func (b *chainTokens) readTrust(ctx context.Context, src *source) error {
	reports, err := src.store.Trust.Since(ctx, b.chain, b.seen)
	if err != nil {
		return err
	}
	for i := range reports {
		if e := b.entry(reports[i].Mint); e != nil && e.launch != nil {
			e.checked = reports[i].Critical
			b.touch(e)
		}
	}
	return nil
}
