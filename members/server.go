// Package members is the program that the platform's app writes its members to: the intake, the count of those who are present, the judge of their calls, the
// keeper of their game, and the follower that tells of launches which pass the quality bar. Of several processes one is active; the others wait for its lease.
package members

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/keyfile"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/internal/wait"
	"github.com/boardwalkhq/boardwalk/members/intake"
	"github.com/boardwalkhq/boardwalk/members/judge"
	"github.com/boardwalkhq/boardwalk/members/keeper"
	"github.com/boardwalkhq/boardwalk/members/presence"
	"github.com/boardwalkhq/boardwalk/members/running"
)

const (
	// leaseTime is for how long the lease is taken or prolonged.
	leaseTime = 10 * time.Second
	// tick is the time between two looks at the registry and at the count.
	tick = time.Second
	// renewEvery is the time between two prolongings of the lease, and how long the database may take for one.
	renewEvery = 3 * time.Second
	// writeEvery is the most ticks between two writes of a count that stays the same.
	writeEvery = 5
	// cleanEvery is the ticks between two looks for what need not be kept any more.
	cleanEvery = 60
	// drain is for how long requests may take that are under way when the program ends.
	drain = 10 * time.Second
)

// Options are what the server works with.
type Options struct {
	Store *store.Store
	// Holder names this process in the lease.
	Holder string
	Tokens *keyfile.File
	// Deployment is the address that the texts name which wallets' owners sign, as in https://app.example.com.
	Deployment string
	// API is the address of the API server, which is asked for the launches that pass the quality bar; empty leaves them out of the stream.
	API string
	// Game has the rules of the members' game; nil stands for the default ones.
	Game    *game.Rules
	Now     func() time.Time
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// Server answers the platform's app.
type Server struct {
	Options

	social  *social.Store
	counter *presence.Counter
	judge   *judge.Judge
	keeper  *keeper.Keeper
	running *running.Follower // nil without Options.API
	handler http.Handler
	active  atomic.Bool
	online  prometheus.Gauge
	overdue *prometheus.GaugeVec
	looked  prometheus.Gauge
}

// New makes a server that isn't active yet.
func New(o Options) (*Server, error) {
	if u, err := url.Parse(o.Deployment); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return nil, fmt.Errorf("the deployment's address %q: allowed is one like https://app.example.com", o.Deployment)
	}
	s := &Server{
		Options: o, social: o.Store.Social, counter: presence.New(o.Store.Social.Registry, o.Store.Social.Presence, o.Now),
		online: prometheus.NewGauge(prometheus.GaugeOpts{Name: "boardwalk_members_online", Help: "Members who are present; 0 in a process that isn't active."}),
	}
	s.overdue = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "boardwalk_members_overdue_seconds", Help: "For how long the oldest row of a kind has been kept beyond its time; none in a process that isn't active.",
	}, []string{"kind"})
	s.looked = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "boardwalk_running_read_timestamp_seconds", Help: "When it was last read which launches pass the quality bar; 0 in a process that isn't active.",
	})
	open := prometheus.NewGauge(prometheus.GaugeOpts{Name: "boardwalk_calls_open", Help: "Calls of which it isn't settled how they end; 0 in a process that isn't active."})
	behind := prometheus.NewGauge(prometheus.GaugeOpts{Name: "boardwalk_game_behind", Help: "Numbers of the stream that the game hasn't taken in; 0 in a process that isn't active."})
	if err := errors.Join(o.Metrics.Register(s.online), o.Metrics.Register(s.overdue), o.Metrics.Register(s.looked), o.Metrics.Register(open), o.Metrics.Register(behind)); err != nil {
		return nil, err
	}
	served := o.Store.Served()
	rules := o.Game
	if rules == nil {
		rules = game.Default()
	}
	s.keeper = keeper.New(keeper.Options{Store: served, Rules: rules, Now: o.Now, Log: o.Log, Behind: behind})
	s.judge = judge.New(judge.Options{Store: served, Now: o.Now, Open: open})
	var err error
	if o.API != "" {
		if s.running, err = running.New(o.API, s.social.Running, o.Now); err != nil {
			return nil, err
		}
	}
	s.handler, err = intake.New(intake.Options{
		Registry: kept{s.social.Registry, s.social.Calls, s.social.Posts, s.social.Answers}, Standings: s.social.Game, Rules: rules, Presence: s.counter, Prices: &judge.Pricer{Store: served, Now: o.Now}, Market: served, Tokens: o.Tokens,
		Deployment: o.Deployment, Active: s.active.Load, Now: o.Now, Log: o.Log, Metrics: o.Metrics,
	})
	return s, err
}

// kept is what the intake reads and writes.
type kept struct {
	social.Registry
	social.Calls
	social.Posts
	social.Answers
}

var errWaits = errors.New("another process is active")

// Ready says why the server takes no requests, or nil.
func (s *Server) Ready(context.Context) error {
	if !s.active.Load() {
		return errWaits
	}
	return nil
}

// Run answers until ctx ends.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return telemetry.Serve(ctx, listener, s.handler, drain, s.Log) })
	g.Go(func() error { s.Tokens.Run(ctx); return nil })
	g.Go(func() error { s.work(ctx); return nil })
	return g.Wait()
}

// work is active whenever it has the lease.
func (s *Server) work(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.try(ctx); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "not active for now", "err", err.Error())
		}
		wait.For(ctx, tick)
	}
}

// try takes the lease, and is active while it has it. What it does with the database ends with the lease: another process is active then.
func (s *Server) try(ctx context.Context) error {
	held, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	ends := time.AfterFunc(leaseTime, func() { // from before the database counts its own time
		s.active.Store(false)
		lost(errLate)
	})
	defer ends.Stop()
	lease, err := s.social.Leases.Acquire(held, s.Holder, leaseTime.Milliseconds())
	if err != nil || lease == nil {
		return err
	}
	var g errgroup.Group
	g.Go(func() error {
		s.renew(held, lease, ends, lost)
		return nil
	})
	g.Go(func() error {
		s.judgeCalls(held, lease)
		return nil
	})
	g.Go(func() error {
		s.keepGame(held, lease)
		return nil
	})
	if s.running != nil {
		g.Go(func() error {
			s.tellRunning(held, lease)
			return nil
		})
	}
	err = s.hold(held, lease)
	lost(nil)
	_ = g.Wait()
	if cause := context.Cause(held); cause != nil && !errors.Is(cause, context.Canceled) {
		return errors.Join(cause, err)
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTime)
	defer cancel()
	if err == nil {
		err = s.counter.End(end, lease)
	}
	return errors.Join(err, s.social.Leases.Release(end, lease))
}

var errLate = errors.New("the database hasn't prolonged the lease in time")

// renew prolongs the lease until its context ends. A database that doesn't answer costs the lease once its time is over.
func (s *Server) renew(ctx context.Context, lease *social.Lease, ends *time.Timer, lost context.CancelCauseFunc) {
	for wait.For(ctx, renewEvery) {
		asked, cancel := context.WithTimeout(ctx, renewEvery)
		err := s.social.Leases.Renew(asked, lease, leaseTime.Milliseconds())
		cancel()
		switch {
		case err == nil:
			ends.Reset(leaseTime - renewEvery) // less what the answer may have taken
		case errors.Is(err, social.ErrLeaseLost):
			s.active.Store(false)
			lost(err)
		case ctx.Err() == nil:
			s.Log.WarnContext(ctx, "the database doesn't prolong the lease", "err", err.Error())
		}
	}
}

// judgeCalls judges calls until its context ends.
func (s *Server) judgeCalls(ctx context.Context, lease *social.Lease) {
	s.judge.Forget()
	defer s.judge.Forget()
	judged := work{log: s.Log, what: "the outcomes of calls"}
	for wait.For(ctx, tick) {
		lost, err := s.social.Upkeep.KeepNumbers(ctx, lease, s.Now().Unix())
		if lost {
			s.Log.WarnContext(ctx, "the database has lost a part of the stream: clients begin anew")
			s.judge.Forget()
			if s.running != nil {
				s.running.Forget()
			}
		}
		judged.done(ctx, errors.Join(err, s.judge.Look(ctx, lease)))
	}
}

// keepGame keeps the game until its context ends. After a long outage one look takes long.
func (s *Server) keepGame(ctx context.Context, lease *social.Lease) {
	s.keeper.Forget()
	defer s.keeper.Forget()
	kept := work{log: s.Log, what: "what members have come to in the game"}
	for wait.For(ctx, tick) {
		kept.done(ctx, s.keeper.Look(ctx, lease))
	}
}

// tellRunning tells of launches that pass the quality bar until its context ends.
func (s *Server) tellRunning(ctx context.Context, lease *social.Lease) {
	s.running.Forget() // another process may have told some meanwhile
	defer s.looked.Set(0)
	told := work{log: s.Log, what: "launches that pass the quality bar, in the feed"}
	for wait.For(ctx, running.Every) {
		err := s.running.Look(ctx, lease)
		if err == nil {
			s.looked.Set(float64(s.Now().Unix()))
		}
		told.done(ctx, err)
	}
}

// work is something that is done again and again, and may fail.
type work struct {
	log *slog.Logger
	// what comes of it.
	what      string
	isFailing bool
}

// done logs the first of several errors.
func (w *work) done(ctx context.Context, err error) {
	if err != nil && !w.isFailing && ctx.Err() == nil {
		w.log.WarnContext(ctx, "something comes late", "what", w.what, "err", err.Error())
	}
	w.isFailing = err != nil
}

// hold is active until its context ends, or the database refuses what it writes.
func (s *Server) hold(ctx context.Context, lease *social.Lease) error {
	if err := s.counter.Restore(ctx); err != nil {
		return err
	}
	s.active.Store(true)
	s.Log.InfoContext(ctx, "active: the intake takes requests")
	defer func() {
		s.active.Store(false)
		s.online.Set(0)
		s.overdue.Reset()
	}()
	h := holding{Server: s, lease: lease, written: -1}
	for n := 1; wait.For(ctx, tick); n++ {
		if err := h.tick(ctx, n); errors.Is(err, social.ErrLeaseLost) {
			return err
		} else if err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "the database doesn't answer", "err", err.Error())
		}
	}
	return nil
}

// holding is what one time of being active keeps.
type holding struct {
	*Server

	lease *social.Lease
	// written is the count that was written last, and at which tick.
	written, writtenAt int
	minute             int64
}

// measureOverdue notes for how long rows have been kept beyond their time. A failure is told in the log: nothing else waits for it.
func (h *holding) measureOverdue(ctx context.Context, now int64) {
	overdue, err := h.social.Upkeep.Overdue(ctx, now)
	if err != nil {
		h.Log.WarnContext(ctx, "look for rows that should be gone", "err", err.Error())
		return
	}
	for kind, seconds := range overdue {
		h.Server.overdue.WithLabelValues(kind).Set(float64(seconds))
	}
}

func (h *holding) tick(ctx context.Context, n int) error {
	if err := h.counter.Follow(ctx); err != nil {
		return err
	}
	now := h.Now().Unix()
	minute := now / 60
	if minute != h.minute { // before what is written: rows stay when the database takes no writes
		h.measureOverdue(ctx, now)
	}
	online := h.counter.Online()
	h.online.Set(float64(online))
	if online != h.written || n-h.writtenAt >= writeEvery {
		if err := h.social.Presence.SetOnline(ctx, h.lease, online); err != nil {
			return err
		}
		h.written, h.writtenAt = online, n
	}
	if minute != h.minute {
		if err := h.counter.Keep(ctx, h.lease); err != nil {
			return err
		}
		h.minute = minute
	}
	if n%cleanEvery != 0 {
		return nil
	}
	erased, err := h.social.Upkeep.Clean(ctx, now)
	if erased > 0 {
		h.judge.Prune()
		h.Log.InfoContext(ctx, "erased members who left an hour ago", "members", erased)
	}
	return err
}
