package up

import (
	"context"
	"net"
	"net/url"

	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/keyfile"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/members"
)

// newIntake opens the intake, which asks the API at an address; the function that it gives answers until its context ends, and is nil where none is wanted.
func (p *Program) newIntake(ctx context.Context, st *store.Store, api net.Addr) (run func(context.Context) error, err error) {
	if p.Members == nil {
		return nil, nil //nolint:nilnil // none is wanted
	}
	tokens, err := keyfile.Open(p.Members.TokensFile, "intake tokens", p.Log)
	if err != nil {
		return nil, err
	}
	rules, err := game.Read(p.Members.GameFile)
	if err != nil {
		return nil, err
	}
	server, err := members.New(members.Options{
		Store: st, Holder: store.NewHolder(p.Database), Tokens: tokens, Deployment: p.Members.Deployment, API: (&url.URL{Scheme: "http", Host: api.String()}).String(), Game: rules,
		Now: p.Now, Log: p.Log, Metrics: p.Metrics,
	})
	if err != nil {
		return nil, err
	}
	listener, err := telemetry.Listen(ctx, "the intake", p.Members.Listen)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return server.Run(ctx, listener) }, nil
}
