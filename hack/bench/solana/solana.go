// Package solana measures how an index of a chain of Solana's volume does: what it takes to follow the head, to start anew and to take a fork back where it knows
// many launches.
package solana

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// The limits that a run is held to.
const (
	wantedCommit  = 300 * time.Millisecond // of 99 % of blocks, from served to committed
	wantedCores   = 0.67                   // of the indexer at the head: a third of a core is left
	wantedMemory  = 512 << 20              // bytes of the indexer at most
	wantedRestart = 5 * time.Second        // until the first block after it is committed
	wantedFork    = 500 * time.Millisecond // of forkDepth blocks with trades
	wantedQuiet   = 50 * time.Millisecond  // of as many without
	wantedPast    = 3.0                    // CPU of the indexer over the past, over that of reading and decoding alone
)

const (
	slotTime  = 400 * time.Millisecond
	forkDepth = 8
	forks     = 5
	// mostMemory is from how many bytes on this program collects garbage while the head is followed.
	mostMemory = 8 << 30
)

type settings struct {
	launches, trades int
	during           time.Duration
	binary           string
	cpuProfile       string
	statements       string
}

// Command is the command.
func Command() lab.Command {
	s := &settings{}
	return lab.Command{
		Name: "solana",
		About: "The head of a made-up Solana with the mainnet's volume (2,500 transactions a block, of which 1,000 are votes and 500 failed), followed by the indexer into " +
			"PostgreSQL where it knows many launches; then a restart, and forks of 8 blocks. See docs/benchmarks.md#solana.",
		Flags: func(f *flag.FlagSet) {
			f.IntVar(&s.launches, "launches", 2_000_000, "how many launches the index knows")
			f.IntVar(&s.trades, "trades", 450, "how many trades a block has")
			f.DurationVar(&s.during, "for", 2*time.Minute, "how long the head is followed")
			f.StringVar(&s.binary, "boardwalk", "", "boardwalk's binary `FILE`; else it is built from this checkout")
			f.StringVar(&s.cpuProfile, "cpuprofile", "", "`FILE` for a CPU profile of the indexer's first 30 s at the head; FILE.past has those 5 s in which it starts and reads the past")
			f.StringVar(&s.statements, "statements", "", "`FILE` for the statements that the database spent most time on")
		},
		Run: func(ctx context.Context) error {
			if s.during < slotTime || s.launches < 1 || s.trades < 1 || s.trades > 1000 {
				return errors.New("--for must be 400ms or more, --launches positive, --trades from 1 to 1000")
			}
			return lab.Scratch(func(dir string) error { return s.measure(ctx, dir) })
		},
	}
}

// bench is a run: a stand-in of a node, a database, and the indexer between them.
type bench struct {
	*settings

	*served

	dir      string
	dsn      string
	document string
	config   *chainconfig.Chain
	postgres *lab.Postgres
	conn     *pgx.Conn
	indexer  *lab.Watched // nil while none runs
	// operations is where the indexer answers for its profile.
	operations string
	// due is when the last slot began.
	due time.Time
}

func (s *settings) measure(ctx context.Context, dir string) (err error) {
	b := &bench{settings: s, dir: dir}
	if b.binary == "" {
		if b.binary, err = lab.BuildBoardwalk(ctx, dir); err != nil {
			return err
		}
	}
	if b.postgres, err = lab.StartPostgres(ctx, dir, s.statements != ""); err != nil {
		return err
	}
	defer b.postgres.Stop()
	if b.served, err = serve(ctx, s.launches, s.trades); err != nil {
		return err
	}
	defer b.close()
	if b.dsn, _, err = b.postgres.Create(ctx); err != nil {
		return err
	}
	if b.conn, err = pgx.Connect(ctx, b.dsn); err != nil {
		return err
	}
	defer func() { _ = b.conn.Close(context.WithoutCancel(ctx)) }()
	defer func() {
		if b.indexer != nil {
			b.indexer.Stop()
		}
	}()
	if err := b.writeDocument(); err != nil {
		return err
	}
	if err := b.run(ctx); err != nil || s.statements == "" {
		return err
	}
	return b.postgres.Slowest(ctx, b.conn, s.statements)
}

// served is a stand-in of a node that serves blocks.
type served struct {
	chain  *svm.Chain
	node   *node
	maker  *blockMaker
	server *http.Server
	url    string
}

func (s *served) close() {
	_ = s.server.Close()
	s.chain.Kill()
}

// serve serves the first blocks of a chain, of which later ones are made.
func serve(ctx context.Context, launches, trades int) (*served, error) {
	lab.Say("chain: starting the local Solana")
	chain, err := svm.Start(ctx, svm.Options{Slot: 1000, Time: time.Now().Add(-time.Minute)})
	if err != nil {
		return nil, err
	}
	begun, err := begin(ctx, chain)
	if err != nil {
		chain.Kill()
		return nil, err
	}
	s := &served{chain: chain, maker: newBlockMaker(begun, launches, trades), node: &node{chain: chain, blocks: begun.blocks}}
	if err := chain.Call(ctx, &s.node.genesis, "getGenesisHash"); err != nil {
		chain.Kill()
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		chain.Kill()
		return nil, err
	}
	s.server = &http.Server{Handler: s.node, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(listener) }() // it ends with the run
	s.url = "http://" + listener.Addr().String()
	return s, nil
}

// next makes a block and serves it.
func (s *served) next(trades int) block {
	head := s.node.head()
	made := s.maker.after(&head, trades)
	s.node.serve(made)
	return made
}

// writeDocument writes what the indexer runs on.
func (b *bench) writeDocument() error {
	b.config = configOf(b.served)
	raw, _, err := b.config.Encode()
	if err != nil {
		return err
	}
	b.document = filepath.Join(b.dir, "chain.json")
	return os.WriteFile(b.document, raw, 0o600)
}

// configOf is the document of the chain that is served.
func configOf(s *served) *chainconfig.Chain {
	of := func(k svm.Key) market.Address { return market.SolanaAddress(k) }
	return &chainconfig.Chain{
		ID: "solana", Family: chainconfig.Solana, GenesisHash: s.node.genesis, BlockTime: chainconfig.Duration(slotTime), ReorgBlocks: 64, FinalityDepth: 32,
		Native: chainconfig.Native{Symbol: "SOL", Wrapped: of(simnet.WSOL)},
		Quotes: []chainconfig.Quote{{Symbol: "USDC", Address: of(simnet.USDC), PegUSD: 1, PegBoundPct: 5}, {Symbol: "WSOL", Address: of(simnet.WSOL)}},
		Exchanges: []chainconfig.Exchange{
			{Name: "pumpswap", Protocol: market.PumpSwap, Factory: of(simnet.PumpSwap)},
			{Name: "raydium-amm-v4", Protocol: market.RaydiumAMMv4, Factory: of(simnet.AMMv4)},
			{Name: "raydium-cpmm", Protocol: market.RaydiumCPMM, Factory: of(simnet.CPMM)},
		},
		Venues: []chainconfig.Venue{
			{ID: "pump-fun", Protocol: chainconfig.PumpFun, Contracts: []market.Address{of(simnet.PumpFun)}},
			{ID: "launchlab", Protocol: chainconfig.RaydiumLaunchLab, Contracts: []market.Address{of(simnet.LaunchLab)}},
		},
		Tracking:  chainconfig.Tracking{Holders: chainconfig.HoldersLaunches},
		Endpoints: []chainconfig.Endpoint{{URL: s.url, Weight: 1}},
	}
}

func (b *bench) start(ctx context.Context) error {
	cmd, operations, err := lab.IndexerOn(ctx, b.binary, b.document, b.dsn)
	if err != nil {
		return err
	}
	b.operations = operations
	cmd.Env = append(cmd.Env, "GOMEMLIMIT="+strconv.Itoa(wantedMemory/10*9)) // as the operator sets it
	b.indexer, err = lab.StartWatched(cmd, b.dir)
	return err
}

func (b *bench) stop() {
	b.indexer.Stop()
	b.indexer = nil
}

// Usage is the CPU of the indexer so far.
func (b *bench) Usage() (u lab.UsageNow, err error) {
	if b.indexer != nil {
		u.CPU, err = lab.TreeCPU(b.indexer.Cmd.Process.Pid)
	}
	return u, err
}

// until asks for the newest committed block again and again until that is enough.
func (b *bench) until(ctx context.Context, enough func(number uint64) bool) error {
	const every = 2 * time.Millisecond
	for {
		number, err := lab.Indexed(ctx, b.conn)
		if err == nil {
			err = b.indexer.Running()
		}
		if err != nil || enough(number) {
			return err
		}
		if !wait.For(ctx, every) {
			return ctx.Err()
		}
	}
}

// result is what was measured.
type result struct {
	head          *lab.Reading
	took          []time.Duration // from served until committed, of the blocks at the head
	behind        int
	restart       time.Duration
	past, read    []time.Duration // CPU that the indexer takes for pastMany - pastFew blocks, and that of reading and decoding them alone; one of each for a round
	swaps, quiet  []time.Duration // from a fork's being served until its head was committed
	plain         []time.Duration // the same of a single block, without a fork
	peak          int64
	blockBytes    int
	databaseBytes int64
	disk          disk // what the blocks at the head took
}

func (b *bench) run(ctx context.Context) error {
	lab.Say("index: the beginning")
	if err := b.start(ctx); err != nil {
		return err
	}
	first := b.node.head().slot
	if err := b.until(ctx, func(number uint64) bool { return number >= first }); err != nil {
		return err
	}
	b.stop()
	if err := copyLaunches(ctx, b.conn, market.SolanaAddress(b.maker.launch.token), b.launches); err != nil {
		return err
	}
	r := &result{}
	if err := b.begin(ctx, r); err != nil {
		return err
	}
	// The node stands in this program, whose garbage collector would take a core for half a second now and then. From here on it runs only above mostMemory.
	runtime.GC()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(mostMemory))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	before, err := b.disk(ctx)
	if err != nil {
		return err
	}
	if err := b.follow(ctx, r); err != nil {
		return err
	}
	after, err := b.disk(ctx)
	if err != nil {
		return err
	}
	r.disk = after.since(before)
	if got, want := r.disk["trades"].rows, int64((len(r.took)+warmUp)*b.trades); got != want {
		return fmt.Errorf("the index has %d trades of the blocks at the head, not %d: it takes some swaps for none", got, want)
	}
	for range forks {
		for _, kind := range []struct {
			trades int
			to     *[]time.Duration
		}{{b.trades, &r.swaps}, {0, &r.quiet}} {
			plain, forked, err := b.fork(ctx, kind.trades)
			if err != nil {
				return err
			}
			*kind.to = append(*kind.to, forked)
			if kind.trades == 0 {
				r.plain = append(r.plain, plain)
			}
		}
	}
	r.peak = b.indexer.Peak.Load()
	b.stop()
	if err := b.conn.QueryRow(ctx, "SELECT pg_database_size(current_database())").Scan(&r.databaseBytes); err != nil {
		return err
	}
	return b.report(r)
}

// begin measures a restart and the past.
func (b *bench) begin(ctx context.Context, r *result) (err error) {
	if r.restart, err = b.restart(ctx); err != nil {
		return err
	}
	for round := range pastRounds {
		var indexer, alone [2]time.Duration
		for i, blocks := range []int{pastFew, pastMany} {
			if indexer[i], alone[i], err = b.catchUp(ctx, blocks, round == 0 && blocks == pastMany); err != nil {
				return err
			}
		}
		r.past, r.read = append(r.past, indexer[1]-indexer[0]), append(r.read, alone[1]-alone[0])
		lab.Say("past: round %d of %d: %s of the indexer, %s of reading and decoding alone", round+1, pastRounds, r.past[round], r.read[round])
	}
	return nil
}

// restart starts the indexer, and gives how long it took until it had committed a block that was there.
func (b *bench) restart(ctx context.Context) (time.Duration, error) {
	made := b.next(b.trades)
	began := lab.Now()
	if err := b.start(ctx); err != nil {
		return 0, err
	}
	err := b.until(ctx, func(number uint64) bool { return number >= made.slot })
	return lab.Now().Sub(began), err
}

// catchUp serves some blocks at once while the indexer is down, and so many above them that no reorg reaches them. It gives the CPU that the indexer takes
// from its start until it has them all, and that of a process that reads and decodes them alone.
func (b *bench) catchUp(ctx context.Context, blocks int, profiled bool) (indexer, alone time.Duration, err error) {
	b.stop()
	first := b.next(b.trades).slot
	for range blocks - 1 {
		b.next(b.trades)
	}
	want := b.node.head().slot
	if alone, err = b.readAlone(ctx, first, want); err != nil {
		return 0, 0, err
	}
	for range b.config.ReorgBlocks {
		last := b.node.head()
		b.node.serve(b.emptyAfter(&last))
	}
	if err := b.start(ctx); err != nil {
		return 0, 0, err
	}
	if profiled {
		defer b.profile(ctx, 5, ".past")()
	}
	if err := b.until(ctx, func(number uint64) bool { return number >= want }); err != nil {
		return 0, 0, err
	}
	used, err := b.Usage()
	if err != nil {
		return 0, 0, err
	}
	head := b.node.head().slot
	return used.CPU, alone, b.until(ctx, func(number uint64) bool { return number >= head })
}

// profile saves a CPU profile of the indexer's next seconds, where one is wanted. done waits until it is there.
func (b *bench) profile(ctx context.Context, seconds int, suffix string) (done func()) {
	var saving sync.WaitGroup
	if b.cpuProfile != "" {
		saving.Go(func() {
			if err := lab.CPUProfile(ctx, b.operations, seconds, b.cpuProfile+suffix); err != nil {
				lab.Say("profile: %v", err)
			}
		})
	}
	return saving.Wait
}

// A round of the past catches up with few blocks and with many, each a whole number of batches (batchBlocks of indexer/solana, 32). The difference is what counts, so that what both starts take cancels out.
const pastRounds, pastFew, pastMany = 5, 32, 96

// warmUp is how many of the first blocks at the head don't count: an index of a chain that stood still looks for blocks less often until they come regularly again.
const warmUp = 4

// follow serves a block each slot, and notes when each is committed.
func (b *bench) follow(ctx context.Context, r *result) (err error) {
	defer b.profile(ctx, 30, "")()
	count := warmUp + int(b.during/slotTime)
	ready := make(chan block, 2)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // the node makes them while the indexer works, as others' nodes would
		defer close(ready)
		last := b.node.head()
		for range count {
			last = b.maker.after(&last, b.trades)
			select {
			case ready <- last:
			case <-ctx.Done():
				return
			}
		}
	}()
	first := b.node.head().slot
	r.behind = -1
	served := make([]time.Time, 0, count)
	r.head, err = lab.Meter(b, b.postgres, func() error {
		p, next, committed := lab.NewProgress("head", int64(count)), lab.Now(), 0
		return b.until(ctx, func(number uint64) bool {
			for now := lab.Now(); committed < len(served) && first+uint64(committed) < number; committed++ {
				r.took = append(r.took, now.Sub(served[committed]))
			}
			p.At(int64(committed))
			if lab.Now().Before(next) {
				return false
			}
			made, more := <-ready
			if !more { // all are served: those that aren't committed count, too
				if r.behind < 0 {
					r.behind = count - committed
				}
				return committed >= len(served)
			}
			r.blockBytes = max(r.blockBytes, len(made.txs[0])+len(made.txs[len(made.txs)-1]))
			b.node.serve(made)
			served = append(served, lab.Now())
			b.due, next = next, next.Add(slotTime)
			return false
		})
	})
	r.took = r.took[min(warmUp, len(r.took)):]
	slices.Sort(r.took)
	return err
}

// fork serves blocks, and then others in their place, each when a slot begins. It gives how long a block without a transaction took until it was committed, and how
// long the others did.
func (b *bench) fork(ctx context.Context, trades int) (plain, forked time.Duration, err error) {
	took := func(serve func() (slot uint64)) (time.Duration, error) {
		slots := 1 + max(0, int64(lab.Now().Sub(b.due)/slotTime))
		b.due = b.due.Add(time.Duration(slots) * slotTime)
		if !wait.For(ctx, b.due.Sub(lab.Now())) {
			return 0, ctx.Err()
		}
		began, want := lab.Now(), serve()
		err := b.until(ctx, func(number uint64) bool { return number >= want })
		return lab.Now().Sub(began), err
	}
	plain, err = took(func() uint64 {
		head := b.node.head()
		empty := b.emptyAfter(&head)
		b.node.serve(empty)
		return empty.slot
	})
	for i := 0; err == nil && i < forkDepth; i++ {
		_, err = took(func() uint64 { return b.next(trades).slot })
	}
	if err != nil {
		return 0, 0, err
	}
	b.node.mu.Lock()
	blocks := slices.Clone(b.node.blocks)
	b.node.mu.Unlock()
	b.maker.takeBack(forkDepth)
	last := blocks[len(blocks)-1-forkDepth]
	var others []block
	for range forkDepth + 1 {
		last = b.emptyAfter(&last) // so that what takes long is taking back
		others = append(others, last)
	}
	forked, err = took(func() uint64 {
		b.node.fork(forkDepth, others...)
		return last.slot
	})
	return plain, forked, err
}

// emptyAfter is a block without a transaction after another.
func (b *bench) emptyAfter(last *block) block {
	made := b.maker.after(last, 0)
	made.txs = [][]byte{}
	return made
}

func (b *bench) report(r *result) error {
	if err := lab.Heading(os.Stdout, fmt.Sprintf("A made-up Solana: a block of 2,500 transactions (%.1f MB) every %s, with 1,000 votes, 500 that failed and %d trades; the index knows %d launches.",
		float64(r.blockBytes)/1e6, slotTime, b.trades, b.launches)); err != nil {
		return err
	}
	at := func(q float64) string { return fmt.Sprintf("%.0f ms", lab.Milliseconds(lab.Quantile(r.took, q))) }
	median := func(list []time.Duration) time.Duration {
		slices.Sort(list)
		return lab.Quantile(list, 0.5)
	}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.0f ms", lab.Milliseconds(d)) }
	t := lab.NewTable("", ">measured", ">wanted", "")
	t.Add(fmt.Sprintf("blocks at the head, after %d that don't count", warmUp), strconv.Itoa(len(r.took)), "", "")
	t.Add("served to committed, median", at(0.5), "", "")
	t.Add("the same, p90", at(0.9), "", "")
	t.Add("the same, p99", at(0.99), ms(wantedCommit), lab.Verdict(lab.Quantile(r.took, 0.99) < wantedCommit))
	t.Add("cores of the indexer, and of the database", fmt.Sprintf("%.3f, %.3f", r.head.Cores(r.head.Server), r.head.Cores(r.head.Database)), fmt.Sprintf("%.2f", wantedCores),
		lab.Verdict(r.head.Cores(r.head.Server) <= wantedCores))
	t.Add("cores of all programs of the machine", fmt.Sprintf("%.2f", r.head.Cores(r.head.All)), "", "")
	t.Add("blocks behind at the end", strconv.Itoa(r.behind), "", "")
	t.Add("peak memory of the indexer", fmt.Sprintf("%d MB", r.peak>>20), fmt.Sprintf("%d MB", wantedMemory>>20), lab.Verdict(r.peak < wantedMemory))
	ratios := make([]float64, len(r.past))
	for i := range ratios {
		ratios[i] = r.past[i].Seconds() / r.read[i].Seconds()
	}
	slices.Sort(ratios)
	ratio := ratios[len(ratios)/2]
	t.Add(fmt.Sprintf("CPU of the indexer over %d blocks of the past; of reading and decoding as many alone; medians of %d, of each number by itself", pastMany-pastFew, pastRounds),
		fmt.Sprintf("%.2f s, %.2f s: %.2f times", median(r.past).Seconds(), median(r.read).Seconds(), ratio), fmt.Sprintf("%.0f times", wantedPast),
		lab.Verdict(ratio <= wantedPast))
	t.Add("a restart, until its first block is committed", r.restart.Round(10*time.Millisecond).String(), wantedRestart.String(), lab.Verdict(r.restart < wantedRestart))
	block := median(r.plain)
	t.Add(fmt.Sprintf("a block without a transaction, median of %d", len(r.plain)), ms(block), "", "")
	for _, f := range []struct {
		about  string
		took   []time.Duration
		wanted time.Duration
	}{{"with trades", r.swaps, wantedFork}, {"without", r.quiet, wantedQuiet}} {
		// The last block of the fork takes as long as any other block does: that time is subtracted.
		took := max(median(f.took)-block, 0)
		t.Add(fmt.Sprintf("a fork of %d blocks %s, more than a block's own time, median of %d", forkDepth, f.about, forks), ms(took), ms(f.wanted), lab.Verdict(took < f.wanted))
	}
	t.Add("the database", fmt.Sprintf("%d MB", r.databaseBytes>>20), "", "")
	return lab.WriteTables(os.Stdout, t, r.disk.table())
}
