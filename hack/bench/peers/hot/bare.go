package hot

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

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
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
func bareOf(name, target string, sample *lab.Answer) *bareAnswer {
	path, _, _ := strings.Cut(target, "?")
	a := &bareAnswer{Path: path, Header: http.Header{"Content-Type": sample.Header["Content-Type"]}, Body: sample.Body}
	if name == hotHeader {
		a.Header = maps.Clone(sample.Header)
		for _, ofTheConnection := range []string{"Connection", "Date", "Content-Length"} {
			a.Header.Del(ofTheConnection)
		}
	}
	return a
}

// serveBare starts a router with one route that writes an answer.
func serveBare(ctx context.Context, dir string, a *bareAnswer) (*lab.Served, error) {
	raw, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "answer.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return nil, err
	}
	return lab.StartChild(ctx, dir, "server", "bare", "--answer", path)
}

// Bare is the child that serves one answer, on the same listener as the API server, with the same limits of time.
func Bare() lab.Command {
	var path string
	return lab.Command{
		Name: "bare", Child: true,
		Flags: func(f *flag.FlagSet) { f.StringVar(&path, "answer", "", "file with the answer") },
		Run: func(ctx context.Context) error {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var a bareAnswer
			if err := json.Unmarshal(raw, &a); err != nil {
				return err
			}
			return lab.ServeAsChild(ctx, "bare", func(ctx context.Context, ready func(net.Addr)) error {
				l, err := telemetry.Listen(ctx, "a bare server", "127.0.0.1:0")
				if err != nil {
					return err
				}
				ready(l.Addr())
				return telemetry.Serve(ctx, l, bareHandler(&a), time.Second, lab.Complaints())
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
