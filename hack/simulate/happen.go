package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/attack"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
)

// These events change the chain.

// reorg replaces the newest blocks by empty ones, and goes on.
func (r *run) reorg(ctx context.Context, depth int) error {
	if err := r.chain.reorg(ctx, depth); err != nil {
		return err
	}
	return r.afterFork(ctx)
}

// rollback takes the newest blocks away: the head goes back, and others come.
func (r *run) rollback(ctx context.Context, depth int) error {
	if err := r.chain.rollback(ctx, depth); err != nil {
		return err
	}
	return r.afterFork(ctx)
}

func (r *run) afterFork(ctx context.Context) error {
	latest, err := r.chain.newest(ctx)
	if err != nil {
		return err
	}
	r.watch.forked()
	if latest.time.After(r.at) {
		r.at = latest.time
	}
	return nil
}

func (r *run) gap(_ context.Context, hours int) error {
	r.at = r.at.Add(time.Duration(hours) * time.Hour)
	r.setClocks(0)
	return nil
}

func (r *run) burst(ctx context.Context, blocks int) error {
	for range blocks {
		if err := r.mine(ctx, 1); err != nil {
			return err
		}
	}
	return nil
}

// The next ones are of EVM chains alone.

// evm is the run's chain, where it is one of EVM.
func (r *run) evm() (*world.World, error) {
	if c, ok := r.chain.(*evmChain); ok {
		return c.world, nil
	}
	return nil, errors.New("it is for EVM chains alone")
}

func (r *run) floodPools(ctx context.Context, count int) error {
	w, err := r.evm()
	if err != nil {
		return err
	}
	token := w.Wrapped
	if r.floods%2 == 1 {
		token = w.Tokens[4].Address
	}
	if err := attack.FloodPools(ctx, w, token, r.floods*1000, count); err != nil {
		return err
	}
	r.floods++
	return r.seal(ctx)
}

// hostileContracts puts the hostile contracts there once and has each of them log what a pool and a token log.
func (r *run) hostileContracts(ctx context.Context, _ int) error {
	w, err := r.evm()
	if err != nil {
		return err
	}
	if r.hostile == nil {
		if r.hostile, err = attack.HostileContracts(ctx, w, r.seal); err != nil {
			return err
		}
	}
	if _, err := attack.Provoke(ctx, w, r.hostile); err != nil {
		return err
	}
	return r.seal(ctx)
}

func (r *run) floodTrades(ctx context.Context, count int) error {
	w, err := r.evm()
	if err != nil {
		return err
	}
	return attack.FloodTrades(ctx, w, count, r.seal)
}

func (r *run) floodTicks(ctx context.Context, count int) error {
	w, err := r.evm()
	if err != nil {
		return err
	}
	r.floods++
	return attack.FloodTicks(ctx, w, (r.floods-1)*count, count, r.seal)
}

// These events meet a process: the first indexer, where no other is named.

func (r *run) kill(context.Context, int) error {
	r.system.indexers[0].end(syscall.SIGKILL)
	return nil
}

func (r *run) killAPI(context.Context, int) error {
	r.system.api.end(syscall.SIGKILL)
	return nil
}

func (r *run) terminate(context.Context, int) error {
	r.system.indexers[0].end(syscall.SIGTERM)
	return nil
}

func (r *run) freeze(context.Context, int) error {
	r.system.indexers[0].freeze(true)
	return nil
}

func (r *run) thaw(context.Context, int) error {
	for _, p := range r.system.indexers {
		p.freeze(false)
	}
	return nil
}

// freezeHolder stops the indexer that has the chain's lease.
func (r *run) freezeHolder(ctx context.Context, _ int) error {
	r.system.holder(ctx).freeze(true)
	return nil
}

func (r *run) endHolder(ctx context.Context, _ int) error {
	r.system.holder(ctx).end(syscall.SIGTERM)
	return nil
}

func (r *run) clockAhead(_ context.Context, seconds int) error {
	r.system.indexers[0].setClock(r.ahead + time.Duration(seconds)*time.Second)
	return nil
}

func (r *run) clockBehind(_ context.Context, seconds int) error {
	r.system.indexers[0].setClock(r.ahead - time.Duration(seconds)*time.Second)
	return nil
}

func (r *run) clockRight(context.Context, int) error {
	r.system.indexers[0].setClock(r.ahead)
	return nil
}

// These events meet the database.

// roomLeft is how many bytes a full disk has left.
const roomLeft = 100 << 10

// diskFull has the program started anew where no file can grow much beyond what the largest is.
func (r *run) diskFull(_ context.Context, _ int) error {
	largest := int64(0)
	for _, name := range []string{"boardwalk.db", "boardwalk.db-wal"} {
		if info, err := os.Stat(filepath.Join(r.dir, name)); err == nil {
			largest = max(largest, info.Size())
		}
	}
	r.system.indexers[0].job.FileBytes = uint64(largest + roomLeft)
	r.system.indexers[0].end(syscall.SIGKILL)
	return nil
}

func (r *run) diskHasRoom(context.Context, int) error {
	r.system.indexers[0].job.FileBytes = 0
	r.system.indexers[0].end(syscall.SIGKILL)
	return nil
}

func (r *run) cut(context.Context, int) error {
	r.system.proxy.Cut()
	return nil
}

func (r *run) swallow(context.Context, int) error {
	r.system.proxy.Swallow()
	return nil
}

func (r *run) slow(_ context.Context, ms int) error {
	r.system.proxy.Delay(time.Duration(ms) * time.Millisecond)
	return nil
}

func (r *run) quick(context.Context, int) error {
	r.system.proxy.Delay(0)
	return nil
}

func (r *run) keepRows(ctx context.Context, _ int) (err error) {
	if r.kept != nil {
		return nil
	}
	for try := 0; ; try++ {
		r.kept, err = dbserver.Take(ctx, r.system.direct, filepath.Join(r.dir, "kept.db"))
		if err == nil || try == 20 {
			return err
		}
		time.Sleep(200 * time.Millisecond) // the schema may still be on its way
	}
}

// rowsBack takes away every commit since keepRows beneath whoever has the database open.
func (r *run) rowsBack(ctx context.Context, _ int) error {
	if r.kept == nil {
		return nil
	}
	var err error
	for range 5 {
		err = r.kept.Restore(ctx)
		if err == nil || !strings.Contains(err.Error(), "deadlock") && !strings.Contains(err.Error(), "locked") {
			break
		}
	}
	err = errors.Join(err, r.kept.Close())
	r.kept = nil
	_ = os.Remove(filepath.Join(r.dir, "kept.db"))
	return err
}
