package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"
)

// askForOneCard measures the answer with a card that the API server has in memory, beside a renderer that drew it.
func (m *cardsMeasurement) askForOneCard(ctx context.Context) (err error) {
	s, err := m.startPainter(ctx, cardsRenderer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	hot := hotOptions{
		apiOptions: apiOptions{
			command: "cards", args: m.args, rounds: max(m.rounds, 1), duration: 3 * time.Second, warmUp: 2 * time.Second, db: sqliteKind,
			size: marketSize{Tokens: 3000, Trades: 100_000, Seed: 1}, clients: clients{Together: 1000, Each: 40},
		},
		connections: 64, api: []string{"--renderer", filepath.Join(m.own, rendererSocket)},
	}
	w := newWorld(hot.size)
	const token = 10 // one that trades
	hot.paths = "/api/pnl-card/token/" + w.tokens[token].mint.String() + ".png"
	return hot.withDatabase(ctx, sqliteKind, w, func(d *database) error { return hot.measure(ctx, d, m.dir) })
}
