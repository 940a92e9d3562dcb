// Package browser draws documents with a supervised headless Chromium: warm tabs, a bounded queue, a deadline for each
// picture, and a browser that is replaced when it ends, hangs, grows or has drawn enough. What is drawn reaches no network.
//
// It ends only processes that it started itself, and leaves none behind.
package browser

import (
	"errors"
	"log/slog"
	"runtime"
	"time"
)

// What Draw may fail with, apart from the end of its context and what the document's maker fails with.
var (
	// ErrBusy says that as many pictures wait as may: the next place is free within about a second.
	ErrBusy = errors.New("browser: the queue is full")
	// ErrUnavailable says that there is no browser to draw with: see Supervisor.RetryAfter.
	ErrUnavailable = errors.New("browser: not available")
	// ErrDeadline says that a picture took longer than it may.
	ErrDeadline = errors.New("browser: the deadline passed")
	// ErrPlatform says that no browser can be run on this operating system.
	ErrPlatform = errors.New("browser: cards are drawn on Linux alone: run the renderer there, or in a container")
	// ErrFailed says that the browser failed at a picture twice.
	ErrFailed = errors.New("browser: the picture could not be drawn")
)

// Options of a Supervisor. Dir, Log and Now are needed; the zero value of each other takes its default.
type Options struct {
	// Program is the browser: a name on the PATH or a path. The default is Program.
	Program string
	// Dir is the folder for profiles and temporary files. The Supervisor makes it, empties it when it begins and removes it
	// when it ends, so nobody else may use it. Where its path is too long for a Unix socket, sockets are in another folder,
	// below the system's folder for temporary files, which is made and removed with Dir.
	Dir string
	// Width and Height of a picture in pixels. The default is 1200 by 630.
	Width, Height int
	// Tabs is how many pictures are drawn at a time. The default is the number of cores.
	Tabs int
	// Queue is how many pictures may wait beyond those. The default is 32 for each tab.
	Queue int
	// Deadline is how long a picture may take, the wait included. The default is 6 s. A first try gets half of it.
	Deadline time.Duration
	// RecycleAfter is the number of pictures after which a browser is replaced. The default is 1,000.
	RecycleAfter int
	// MaxMemory is the number of bytes of a browser's processes above which it is replaced. The default is 256 MiB and 128
	// for each tab: one that has drawn little holds 120 MiB and 20 for each.
	MaxMemory uint64
	// Patience is how long a browser may take to start and to answer that it is well. The default is 20 s to start and a
	// quarter of it to answer.
	Patience time.Duration
	// HealthEvery is the time between two looks at the browser's health and memory. The default is 5 s.
	HealthEvery time.Duration
	// Metrics may be nil.
	Metrics *Metrics
	Log     *slog.Logger
	Now     func() time.Time

	folders folders

	// Tests take guards away to show that the others hold, and protections to try the others.
	without guards
	only    []Protection
}

// Program is the browser that is looked for when none is named: Debian's small Chromium without a window system.
const Program = "chromium-headless-shell"

func (o Options) withDefaults() (Options, error) {
	if o.Dir == "" || o.Log == nil || o.Now == nil {
		return o, errors.New("browser: Dir, Log and Now are needed")
	}
	if err := checkPlatform(); err != nil {
		return o, err
	}
	var err error
	if o.folders, err = newFolders(o.Dir); err != nil {
		return o, err
	}
	if o.only == nil {
		o.only = protections
	}
	orDefault(&o.Program, Program)
	orDefault(&o.Width, 1200)
	orDefault(&o.Height, 630)
	orDefault(&o.Tabs, runtime.GOMAXPROCS(0))
	orDefault(&o.Queue, 32*o.Tabs)
	orDefault(&o.Deadline, 6*time.Second)
	orDefault(&o.RecycleAfter, 1000)
	orDefault(&o.MaxMemory, 256<<20+uint64(max(0, o.Tabs))*128<<20)
	orDefault(&o.Patience, 20*time.Second)
	orDefault(&o.HealthEvery, 5*time.Second)
	if o.Width < 0 || o.Height < 0 || o.Tabs < 0 || o.Queue < 0 || o.Deadline < 0 || o.RecycleAfter < 0 || o.Patience < 0 || o.HealthEvery < 0 {
		return o, errors.New("browser: an option is negative; allowed is 0, for its default, or more")
	}
	return o, nil
}

func orDefault[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}
