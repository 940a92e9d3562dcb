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
	flags.Func("profiles", "`DIR` for a CPU profile of each server's whole life, and one of its heap before it ends", func(dir string) error {
		dir, err := filepath.Abs(dir)
		return errors.Join(err, os.MkdirAll(dir, 0o750), os.Setenv(profilesIn, dir))
	})
}

// profileOf is the path of this process's profile of a kind; empty where none is wanted.
func profileOf(name, kind string) string {
	dir := os.Getenv(profilesIn)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, fmt.Sprintf("%s-%d.%s", name, os.Getpid(), kind))
}

// profiled runs f, with a profile of the CPU when it is wanted.
func profiled(name string, f func() error) (err error) {
	path := profileOf(name, "cpu")
	if path == "" {
		return f()
	}
	cpu, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return err
	}
	defer func() {
		pprof.StopCPUProfile()
		err = errors.Join(err, cpu.Close())
	}()
	return f()
}

// profileHeap writes a profile of what lives on the heap, when it is wanted.
func profileHeap(name string) error {
	path := profileOf(name, "heap")
	if path == "" {
		return nil
	}
	heap, err := os.Create(path)
	if err != nil {
		return err
	}
	runtime.GC()
	return errors.Join(pprof.Lookup("heap").WriteTo(heap, 0), heap.Close())
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
			if err := profileHeap(name); err != nil {
				Complaints().ErrorContext(ctx, "the heap's profile can't be written", "err", err.Error())
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
