package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gorilla/mux"
	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

// bareAnswer is what a bare server writes.
type bareAnswer struct {
	// Path is the only route.
	Path   string
	Header http.Header
	Body   []byte
}

// serveCommand runs a server as a process of its own, so that what it uses can be told from what the load takes. It
// says on stdout where it listens, obeys the lines of stdin (see served), and ends with them.
func serveCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	db := flags.String("db", "", "database of the API server")
	at := flags.Int64("now", 0, "unix second at which the API server's clock begins")
	board := flags.Bool("board", false, "declare the chains and venues of the launch board's world")
	renderer := flags.String("renderer", "", "socket of the renderer that draws the API server's cards")
	bare := flags.String("bare", "", "file with the answer of a bare server, which is run instead")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	answering := make(chan net.Addr, 1)
	if *bare != "" {
		h, err := bareHandler(*bare)
		if err != nil {
			return err
		}
		l, err := telemetry.Listen(ctx, "a bare server", "127.0.0.1:0")
		if err != nil {
			return err
		}
		// On the same listener as the API server, with the same limits of time.
		g.Go(func() error { return telemetry.Serve(ctx, l, h, time.Second, log) })
		answering <- l.Addr()
	} else {
		declared := worldCatalog()
		if *board {
			declared = boardCatalog()
		}
		began := now()
		p := apiServer(*db, declared, func() time.Time { return time.Unix(*at, 0).Add(now().Sub(began)) }, log)
		p.Renderer, p.Ready = *renderer, func(at net.Addr) { answering <- at }
		g.Go(func() error { return p.Run(ctx) })
	}
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
				log.ErrorContext(ctx, "the control connection broke", "err", err.Error())
			}
			stop()
		}()
		return nil
	})
	return g.Wait()
}

// apiServer is the API server as it is run in earnest, but for its clock: the limiter is on, and believes a proxy on this
// machine about who asks.
func apiServer(database string, declared *catalog.Catalog, clock func() time.Time, log *slog.Logger) *apiserver.Program {
	return &apiserver.Program{
		Settings: apiserver.Settings{
			Listen: "127.0.0.1:0", DocsURL: "/docs", TrustedProxies: []string{"127.0.0.0/8"},
			Build: serve.Build{Commit: strings.Repeat("0", 40)},
		},
		Database: database, Declarations: apiserver.FixedDeclarations{Live: catalog.NewLive(declared)},
		Operations: telemetry.OperationsOptions{Address: "127.0.0.1:0"}, Metrics: telemetry.NewRegistry(), Now: clock, Log: log,
	}
}

// bareHandler reads what a bare server writes.
func bareHandler(path string) (http.Handler, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var a bareAnswer
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	return bareAnswerHandler(&a), nil
}

// bareAnswerHandler is the least that a server with a router can do.
func bareAnswerHandler(a *bareAnswer) http.Handler {
	a.Header.Set("Content-Length", strconv.Itoa(len(a.Body))) // else it would be sent in chunks
	m := mux.NewRouter()
	m.HandleFunc(a.Path, func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), a.Header)
		_, _ = w.Write(a.Body) // the client may be gone
	}).Methods(http.MethodGet)
	return m
}

// usageNow is what a process has used up to now, and holds.
type usageNow struct {
	CPU time.Duration
	// Resident and Peak are the memory that the process has in use and the most it ever had; Heap is what lives of it
	// on Go's heap, garbage included. In bytes; 0 where the system doesn't tell.
	Resident, Peak, Heap int64
}

func ownUsage() (usageNow, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return usageNow{}, fmt.Errorf("getrusage: %w", err)
	}
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	status, _ := os.ReadFile("/proc/self/status") // 0 where there is none
	return usageNow{
		CPU: time.Duration(r.Utime.Nano() + r.Stime.Nano()), Heap: int64(heap[0].Value.Uint64()),
		Resident: kilobytes(status, "VmRSS:"), Peak: kilobytes(status, "VmHWM:"),
	}, nil
}

// kilobytes reads a line of /proc/PID/status as bytes.
func kilobytes(status []byte, name string) int64 {
	_, after, _ := strings.Cut(string(status), name)
	number, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	n, _ := strconv.ParseInt(number, 10, 64) // 0 where it is missing
	return n << 10
}

// writeHeap writes what lives on the heap after a collection.
func writeHeap(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	runtime.GC()
	return errors.Join(pprof.Lookup("heap").WriteTo(f, 0), f.Close())
}

// obey does what the lines say, one answer each: "usage", "profile FILE", "profiled", "heap FILE".
func obey(in io.Reader, out io.Writer) error {
	answers := json.NewEncoder(out)
	var profile *os.File
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		word, path, _ := strings.Cut(lines.Text(), " ")
		var answer any = "done"
		var err error
		switch word {
		case "usage":
			answer, err = ownUsage()
		case "profile":
			if profile, err = os.Create(path); err == nil {
				err = pprof.StartCPUProfile(profile)
			}
		case "profiled":
			pprof.StopCPUProfile()
			err = profile.Close()
		case "heap":
			err = writeHeap(path)
		default:
			err = fmt.Errorf("%q is no command", word)
		}
		if err := errors.Join(err, answers.Encode(answer)); err != nil {
			return err
		}
	}
	return lines.Err()
}
