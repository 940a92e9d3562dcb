package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"time"

	"golang.org/x/sync/errgroup"
)

// profilesIn names the folder for profiles to children.
const profilesIn = "BOARDWALK_BENCH_PROFILES"

// ProfilesFlag has children write profiles of their CPU and of what lives on their heaps.
func ProfilesFlag(flags *flag.FlagSet) {
	flags.Func("profiles", "`DIR` for a CPU profile of each server's whole life, and one of its heap at the end", func(dir string) error {
		dir, err := filepath.Abs(dir)
		return errors.Join(err, os.MkdirAll(dir, 0o750), os.Setenv(profilesIn, dir))
	})
}

// profiled runs f, with its profiles when they are wanted.
func profiled(name string, f func() error) (err error) {
	dir := os.Getenv(profilesIn)
	if dir == "" {
		return f()
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%d", name, os.Getpid()))
	cpu, err := os.Create(path + ".cpu")
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return err
	}
	defer func() {
		pprof.StopCPUProfile()
		heap, e := os.Create(path + ".heap")
		if e == nil {
			runtime.GC()
			e = errors.Join(pprof.Lookup("heap").WriteTo(heap, 0), heap.Close())
		}
		err = errors.Join(err, cpu.Close(), e)
	}()
	return f()
}

// Complaints is a log of warnings and errors, on stderr.
func Complaints() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// ServeAsChild runs a server in a process of its own, so that what it uses can be told from what the load takes. It says on
// stdout where the server listens, answers the lines of stdin (see served), and ends with them.
func ServeAsChild(ctx context.Context, name string, serve func(ctx context.Context, ready func(net.Addr)) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	answering := make(chan net.Addr, 1)
	g.Go(func() error { return serve(ctx, func(at net.Addr) { answering <- at }) })
	g.Go(func() error {
		const longest = 3 * time.Minute
		select {
		case at := <-answering:
			if err := json.NewEncoder(os.Stdout).Encode(at.String()); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		case <-time.After(longest):
			return fmt.Errorf("the server was not ready within %s", longest)
		}
		go func() {
			if err := obey(os.Stdin, os.Stdout); err != nil {
				Complaints().ErrorContext(ctx, "the control connection broke", "err", err.Error())
			}
			stop()
		}()
		return nil
	})
	return profiled(name, g.Wait)
}

// obey answers each line that asks for "usage" with what this process has used.
func obey(in io.Reader, out io.Writer) error {
	answers := json.NewEncoder(out)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if lines.Text() != "usage" {
			return fmt.Errorf("%q is no command", lines.Text())
		}
		u, err := ownUsage()
		if err := errors.Join(err, answers.Encode(u)); err != nil {
			return err
		}
	}
	return lines.Err()
}
