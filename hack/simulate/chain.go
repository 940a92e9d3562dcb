package main

import (
	"context"
	"time"
)

// The families of chains that are simulated.
const (
	familyEVM    = ""
	familySolana = "solana"
)

// simulated is the chain that a run is of, with what people do on it.
type simulated interface {
	// id is its identifier, URL where its own node answers.
	id() string
	URL() string
	// act makes people do so many things, which the next block has. seal makes that block.
	act(ctx context.Context, at time.Time, count int) error
	seal(ctx context.Context, at time.Time) error
	newest(ctx context.Context) (made, error)
	// reorg replaces the newest blocks by empty ones, rollback takes them away.
	reorg(ctx context.Context, depth int) error
	rollback(ctx context.Context, depth int) error
	// fork is where a node answers that has another fork of the chain.
	fork(ctx context.Context, dir string) (url string, err error)
	// manifests are those of the chain and of its launch venues.
	manifests() (chain, venues []byte, err error)
	// tokens are some that the API is asked for.
	tokens() []string
	end()
}

// made is a block that was made.
type made struct {
	number uint64
	time   time.Time
}

// begin starts a chain with some blocks of history, the last one of which is of a time.
func begin(ctx context.Context, p *Plan, end time.Time) (simulated, error) {
	if p.Family == familySolana {
		return beginSolana(ctx, p.Seed, end)
	}
	return beginEVM(ctx, p.Seed, end)
}
