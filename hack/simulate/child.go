package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/up"
)

// childEnv has the child's job as JSON: this program starts itself again for each process of the system.
const childEnv = "BOARDWALK_SIMULATE_CHILD"

// job is what a child runs: the programs as they ship, but for their clock.
type job struct {
	// Program is "indexer", "apiserver" or "up".
	Program    string `json:"program"`
	Database   string `json:"database"`
	Manifests  string `json:"manifests"`
	Document   string `json:"document"`
	Listen     string `json:"listen"`
	Operations string `json:"operations"`
	// Clock is added to the machine's clock, in nanoseconds, until a line on stdin says otherwise.
	Clock int64 `json:"clock"`
	// FileBytes is the largest file that it may write: a disk that is full. 0 is no limit.
	FileBytes uint64 `json:"file_bytes,omitempty"`
}

// runChild ends with stdin: no child outlives its parent.
func runChild(raw string) error {
	var j job
	if err := json.Unmarshal([]byte(raw), &j); err != nil {
		return err
	}
	if j.FileBytes > 0 {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: j.FileBytes, Max: j.FileBytes}); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	clock := &atomic.Int64{}
	clock.Store(j.Clock)
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			if offset, err := strconv.ParseInt(lines.Text(), 10, 64); err == nil {
				clock.Store(offset)
			}
		}
		stop()
	}()
	return j.run(ctx, func() time.Time { return time.Now().Add(time.Duration(clock.Load())) })
}

func (j *job) run(ctx context.Context, now func() time.Time) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	settings := apiserver.Settings{
		Listen: j.Listen, DocsURL: "/docs", TrustedProxies: []string{"127.0.0.0/8"}, Build: serve.Build{Commit: strings.Repeat("0", 40)},
	}
	operations := telemetry.OperationsOptions{Address: j.Operations}
	switch j.Program {
	case "indexer":
		p := &indexer.Program{Document: j.Document, Database: j.Database, Operations: operations, Metrics: telemetry.NewRegistry(), Now: now, Log: log}
		return p.Run(ctx)
	case "apiserver":
		declared, err := declaredIn(j.Manifests)
		if err != nil {
			return err
		}
		cat, err := declared.Catalog()
		if err != nil {
			return err
		}
		p := &apiserver.Program{
			Settings: settings, Database: j.Database, Declarations: apiserver.FixedDeclarations{Live: catalog.NewLive(cat)},
			Operations: operations, Metrics: telemetry.NewRegistry(), Now: now, Log: log,
		}
		return p.Run(ctx)
	case "up":
		p := &up.Program{
			Settings: settings, Manifests: []string{j.Manifests}, Database: j.Database, Operations: operations, Out: io.Discard,
			Metrics: telemetry.NewRegistry(), Now: now, Log: log,
		}
		return p.Run(ctx)
	}
	return fmt.Errorf("there is no program %q", j.Program)
}

func declaredIn(dir string) (*files.Declared, error) {
	m, err := files.Load(dir)
	if err != nil {
		return nil, err
	}
	declared, err := m.Resolve()
	if err == nil && len(declared.Running) != 1 {
		err = errors.New("the manifests don't declare one chain")
	}
	return declared, err
}
