package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/plain"
)

// checkSolana is Check for a chain of Solana's family.
func checkSolana(ctx context.Context, c *chainconfig.Chain, now func() time.Time) (*Report, error) {
	source, err := solana.NewSource(c, solana.Options{Log: slog.New(slog.DiscardHandler), Now: now})
	if err != nil {
		return nil, err
	}
	r, genesis := &Report{Chain: c.ID}, cmp.Or(c.GenesisHash, solana.MainnetGenesis)
	find := func(s Severity, format string, args ...any) {
		r.Findings = append(r.Findings, Finding{s, fmt.Sprintf(format, args...)})
	}
	all := source.Capabilities(ctx, c)
	var nodes []solana.Capabilities
	for _, n := range all {
		switch {
		case errors.Is(n.Err, rpc.ErrWrongChain):
			find(Wrong, "%s: %s", n.Endpoint, said(n.Err.Error()))
		case n.Err != nil:
			find(Missing, "%s can't be asked: %s. Look whether its URL is right, and whether this machine reaches it", n.Endpoint, said(n.Err.Error()))
		default:
			nodes = append(nodes, n)
		}
	}
	if len(nodes) == 0 {
		r.Summary = [3]string{
			fmt.Sprintf("the chain with genesis hash %s is served by none of %d endpoints; the declared addresses were not checked", genesis, len(all)),
			"what the nodes can do isn't known", "no figure can be had",
		}
		if r.CountWrong() == 0 {
			find(Wrong, "no endpoint answers: give the URL of a node of Solana")
		}
		return r, nil
	}
	declared, err := source.Accounts().CheckDeclared(ctx, c)
	if err != nil {
		find(Missing, "the declared addresses can't be checked: %s", said(err.Error()))
	}
	r.Findings = append(r.Findings, FindAddresses(declared)...)
	best, clients := nodes[0], []string{}
	for _, n := range nodes {
		if n.Head.Number > best.Head.Number {
			best = n
		}
		if name := plain.Text(n.Client); name != "" && !slices.Contains(clients, name) {
			clients = append(clients, name)
		}
		if age := now().Sub(time.Unix(n.Head.Time, 0)).Round(time.Second); age > oldHead {
			find(Missing, "%s has a newest block that is %s old: wait until it is in sync, or use another node", n.Endpoint, age)
		}
		if n.Refused != nil {
			find(Missing, "%s doesn't give its newest block with its transactions: %s. Use another node or plan", n.Endpoint, said(n.Refused.Error()))
		}
	}
	findUntold(c, nodes, find)
	stream := checkStreams(ctx, source, find)
	streamed := ""
	if stream != nil {
		streamed = fmt.Sprintf("; %s streams blocks, and sent %s in %.1f MB", stream.Endpoint, count(stream.Transactions, "transaction"), float64(stream.Bytes)/1e6)
	}
	by := ""
	if len(clients) > 0 {
		by = " (" + strings.Join(clients, ", ") + ")"
	}
	r.Summary = [3]string{
		fmt.Sprintf("genesis hash %s is served by %d of %d endpoints%s, whose block %d is %s old; %d of %d declared addresses are as declared", genesis, len(nodes), len(all),
			by, best.Head.Number, max(0, now().Sub(time.Unix(best.Head.Time, 0)).Round(time.Second)), countGood(declared), len(declared)),
		fmt.Sprintf("blocks from slot %d on; the newest has %s in %.1f MB%s", best.Oldest, count(best.Transactions, "transaction"), float64(best.Bytes)/1e6, streamed),
		solanaMeaning(c, &best, stream),
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(rank[a.Severity], rank[b.Severity]) })
	return r, nil
}

// findUntold says what nodes don't tell of the time before the index.
func findUntold(c *chainconfig.Chain, nodes []solana.Capabilities, find func(s Severity, format string, args ...any)) {
	for i := range nodes {
		n := &nodes[i]
		if n.NoHolders != nil {
			find(Missing, "%s doesn't tell who has a token: %s. Without two endpoints that do, or the only one, the holders of tokens that are older than the index aren't counted",
				n.Endpoint, said(n.NoHolders.Error()))
		}
		if n.NoLists != nil {
			find(Missing, "%s doesn't list what an account did: %s. Use another node or plan, or write tracking.pastDays: 0", n.Endpoint, said(n.NoLists.Error()))
		}
	}
	if kept := timeKept(c, nodes); c.Tracking.PastDays > 0 && kept < time.Duration(c.Tracking.PastDays)*24*time.Hour {
		find(Missing, "the nodes keep some %.0f days of blocks, and what members' wallets did is read for the last %d: use a node that keeps more, or write fewer as tracking.pastDays",
			kept.Hours()/24, c.Tracking.PastDays)
	}
}

// timeKept is for about how long two of the nodes keep their blocks, or the only one.
func timeKept(c *chainconfig.Chain, nodes []solana.Capabilities) time.Duration {
	kept := make([]uint64, len(nodes))
	for i := range nodes {
		kept[i] = nodes[i].Head.Number - min(nodes[i].Head.Number, nodes[i].Oldest)
	}
	slices.Sort(kept)
	return time.Duration(kept[max(len(kept)-2, 0)]) * time.Duration(c.BlockTime)
}

// checkStreams reads a block of each endpoint that streams them, and gives one that streams this chain's; nil where none does.
func checkStreams(ctx context.Context, source *solana.Source, find func(s Severity, format string, args ...any)) (stream *solana.StreamCapabilities) {
	for _, n := range source.StreamCapabilities(ctx) {
		if n.Err != nil {
			find(Missing, "%s doesn't stream this chain's blocks: %s. Look whether its URL and token are right; until then blocks are asked for", n.Endpoint, said(n.Err.Error()))
			continue
		}
		stream = &n
	}
	return stream
}

// requestsPerBlock are the requests for a block that is asked for. Where blocks are streamed requestsPerSecond are left: each two seconds the newest slot and a block's
// header, and each six the final slot and its header. The blocks that two endpoints must have alike come on top.
const requestsPerBlock, requestsPerSecond = 3, 2.0/2 + 2.0/6

// solanaMeaning is the third line.
func solanaMeaning(c *chainconfig.Chain, n *solana.Capabilities, stream *solana.StreamCapabilities) string {
	const seconds = float64(24 * time.Hour / time.Second)
	blocks := float64(24*time.Hour) / float64(c.BlockTime)
	requests, bytes := requestsPerBlock*blocks, float64(n.Bytes)
	if stream != nil {
		requests, bytes = requestsPerSecond*seconds+blocks/chain.AgreedShare, float64(stream.Bytes)+float64(n.Bytes)/chain.AgreedShare
	}
	day := fmt.Sprintf("a day takes some %.0f requests and %.0f GB", requests, blocks*bytes/1e9)
	if c.Start.Block > 0 && n.Oldest > c.Start.Block {
		return fmt.Sprintf("%s; it can't begin at slot %d, which the nodes don't have any more; trades aren't simulated", day, c.Start.Block)
	}
	return day + "; figures begin with the start, and trades aren't simulated"
}
