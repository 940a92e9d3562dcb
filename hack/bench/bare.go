package main

import (
	"context"
	"encoding/json"
	"flag"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

// bareAnswer is what a bare server writes.
type bareAnswer struct {
	// Path is the only route.
	Path   string
	Header http.Header
	Body   []byte
}

// bareOf is what a bare contender writes.
func bareOf(name, target string, sample *answer) *bareAnswer {
	path, _, _ := strings.Cut(target, "?")
	a := &bareAnswer{Path: path, Header: http.Header{"Content-Type": sample.header["Content-Type"]}, Body: sample.body}
	if name == hotHeader {
		a.Header = maps.Clone(sample.header)
		for _, ofTheConnection := range []string{"Connection", "Date", "Content-Length"} {
			a.Header.Del(ofTheConnection)
		}
	}
	return a
}

// serveBare starts a router with one route that writes an answer.
func serveBare(ctx context.Context, dir string, a *bareAnswer) (*served, error) {
	raw, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "answer.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return nil, err
	}
	return startChild(ctx, dir, "server", "bare", "--answer", path)
}

// bareCommand is the child that serves one answer, on the same listener as the API server, with the same limits of time.
func bareCommand() command {
	var path string
	return command{
		name: "bare", child: true,
		flags: func(f *flag.FlagSet) { f.StringVar(&path, "answer", "", "file with the answer") },
		run: func(ctx context.Context) error {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var a bareAnswer
			if err := json.Unmarshal(raw, &a); err != nil {
				return err
			}
			return serveAsChild(ctx, "bare", func(ctx context.Context, ready func(net.Addr)) error {
				l, err := telemetry.Listen(ctx, "a bare server", "127.0.0.1:0")
				if err != nil {
					return err
				}
				ready(l.Addr())
				return telemetry.Serve(ctx, l, bareHandler(&a), time.Second, complaints())
			})
		},
	}
}

// bareHandler is the least that a server with a router can do.
func bareHandler(a *bareAnswer) http.Handler {
	a.Header.Set("Content-Length", strconv.Itoa(len(a.Body))) // else it would be sent in chunks
	m := mux.NewRouter()
	m.HandleFunc(a.Path, func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), a.Header)
		_, _ = w.Write(a.Body) // the client may be gone
	}).Methods(http.MethodGet)
	return m
}
