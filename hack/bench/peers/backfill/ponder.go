package backfill

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/npmcache"
)

// ponderVersion is what ponder/package.json pins.
const ponderVersion = "0.16.10"

//go:embed ponder/.npmrc ponder/package.json ponder/package-lock.json ponder/*.ts ponder/src
var ponderProject embed.FS

// ponder is Ponder with a project that derives the same rows.
func (l *course) ponder(ctx context.Context, counted *rows) (*contender, error) {
	packages, err := installPonder(ctx)
	if err != nil {
		return nil, err
	}
	return &contender{
		name: "Ponder",
		command: func(ctx context.Context, dir, endpoint, dsn string) (*exec.Cmd, error) {
			// The project finds its packages beside it, as if they were installed there.
			if err := os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
				return nil, err
			}
			if err := writeProject(dir); err != nil {
				return nil, err
			}
			chain, err := l.ponderChain(dir, endpoint)
			if err != nil {
				return nil, err
			}
			port, err := lab.FreePort(ctx)
			if err != nil {
				return nil, err
			}
			cmd := exec.CommandContext(ctx, "node", filepath.Join(packages, "node_modules/ponder/dist/esm/bin/ponder.js"),
				"start", "--root", dir, "--schema", "bench", "--hostname", "127.0.0.1", "--port", port)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "DATABASE_URL="+dsn, "BENCH_CHAIN="+chain, "PONDER_TELEMETRY_DISABLED=1", "NO_COLOR=1")
			return cmd, nil
		},
		finished: func(ctx context.Context, conn *pgx.Conn) (bool, error) {
			var checkpoint string
			if err := conn.QueryRow(ctx, "SELECT latest_checkpoint FROM bench._ponder_checkpoint").Scan(&checkpoint); err != nil {
				return false, lab.NotYet(err)
			}
			// Digits: 10 of the time, 16 of the chain, 16 of the block.
			if len(checkpoint) < 42 {
				return false, fmt.Errorf("%q is no checkpoint of Ponder's", checkpoint)
			}
			number, err := strconv.ParseUint(checkpoint[26:42], 10, 64)
			return number >= l.chain.head, err
		},
		check: func(ctx context.Context, conn *pgx.Conn) (*rows, error) {
			r, err := ponderRows(ctx, conn)
			if err != nil {
				return nil, err
			}
			return r, r.differences(counted)
		},
	}, nil
}

// ponderChain writes what chain.ts reads.
func (l *course) ponderChain(dir, endpoint string) (string, error) {
	cfg := l.chain.cfg
	out := map[string]any{"id": cfg.EVMChainID, "rpc": endpoint, "wrapped": cfg.Native.Wrapped.String()}
	quotes := make([]string, len(cfg.Quotes))
	for i, q := range cfg.Quotes {
		quotes[i] = q.Address.String()
	}
	out["quotes"] = quotes
	for _, x := range cfg.Exchanges {
		switch x.Protocol { //nolint:exhaustive // the chain has no others
		case market.UniswapV2:
			out["v2Factory"] = x.Factory
		case market.UniswapV3:
			out["v3Factory"] = x.Factory
		default:
			return "", fmt.Errorf("the chain has %s, which the Ponder project doesn't know: use the chain that bench makes", x.Protocol)
		}
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "chain.json")
	return path, os.WriteFile(path, raw, 0o600)
}

// ponderRows reads what Ponder wrote. It keeps balances that became zero, and has the transfers of pairs' own liquidity
// tokens among the others: neither are rows to compare.
func ponderRows(ctx context.Context, conn *pgx.Conn) (*rows, error) {
	r := &rows{}
	var err error
	count := func(n *int, total *big.Int, query string) {
		if err == nil {
			*n, err = sum(ctx, conn, query, total)
		}
	}
	var ignored big.Int
	count(&r.trades, &r.base, "SELECT base_amount::text FROM bench.trade")
	count(&r.trades, &r.quote, "SELECT quote_amount::text FROM bench.trade")
	count(&r.candles, &r.volume, "SELECT volume_base::text FROM bench.candle")
	count(&r.balances, &r.held, "SELECT amount::text FROM bench.balance WHERE amount <> 0 AND token NOT IN (SELECT address FROM bench.pool)")
	count(&r.tokens, &ignored, "SELECT '0' FROM bench.token WHERE address NOT IN (SELECT address FROM bench.pool)")
	return r, err
}

// installPonder makes sure that the packages are in the cache directory.
func installPonder(ctx context.Context) (string, error) {
	cache, err := npmcache.Dir()
	if err != nil {
		return "", err
	}
	lock, err := ponderProject.ReadFile("ponder/package-lock.json")
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256(lock)
	dir := filepath.Join(cache, "bench-ponder-"+hex.EncodeToString(hash[:6]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "", errors.New("npm is not on PATH: install Node.js 20 or newer, which brings it, or leave Ponder out with --only")
	}
	lab.Say("ponder: installing %s, once", ponderVersion)
	return dir, lab.Kept(dir, func(part string) error {
		if err := writeProject(part); err != nil {
			return err
		}
		// Not npm ci: that wants every platform's optional packages in the lock file.
		npm := exec.CommandContext(ctx, "npm", "install", "--loglevel=error")
		npm.Dir = part
		if out, err := npm.CombinedOutput(); err != nil {
			return fmt.Errorf("npm install: %w\n%.1000s\n(the packages come from npm's registry: is it reachable?)", err, out)
		}
		return nil
	})
}

// writeProject writes the Ponder project into dir.
func writeProject(dir string) error {
	source, err := fs.Sub(ponderProject, "ponder")
	if err != nil {
		return err
	}
	return os.CopyFS(dir, source)
}
