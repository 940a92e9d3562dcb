package apiserver_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/porttest"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

// logText is a log that may be read while it is written.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestTheAPIWaitsForTheSchema and makes none by itself: the role that it has may only read.
func TestTheAPIWaitsForTheSchema(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t, "postgres")
	operations := porttest.Address(t)
	var said logText
	p := program(dsn, operations, &said)
	answers := make(chan net.Addr, 1)
	p.Ready = func(a net.Addr) { answers <- a }
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	eventually(t, "it says what it waits for", func() bool { return strings.Contains(said.String(), "waiting for the database's schema") })
	if code := statusOf(t, "http://"+operations+"/livez"); code != http.StatusOK {
		t.Errorf("/livez of a program that waits: %d", code)
	}
	if code := statusOf(t, "http://"+operations+"/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz of a program that waits: %d", code)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var tables int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&tables); err != nil || tables != 0 {
		t.Fatalf("the API made %d tables (%v)", tables, err)
	}
	storetest.OpenAt(t, dsn) // as the Job does, on an install without chains
	api := <-answers
	if code := statusOf(t, "http://"+api.String()+"/api/launch/status"); code != http.StatusOK {
		t.Errorf("with a schema and no chains /api/launch/status is %d", code)
	}
	if code := statusOf(t, "http://"+operations+"/readyz"); code != http.StatusOK {
		t.Errorf("/readyz of a program that answers: %d", code)
	}
}

// program is an API server without chains.
func program(dsn, operations string, log io.Writer) *apiserver.Program {
	return &apiserver.Program{
		Settings: apiserver.Settings{Listen: "127.0.0.1:0", DocsURL: "/docs"}, Database: dsn,
		Declarations: apiserver.FixedDeclarations{Live: catalog.NewLive(&catalog.Catalog{})},
		Operations:   telemetry.OperationsOptions{Address: operations}, Metrics: prometheus.NewRegistry(),
		Now: time.Now, Log: slog.New(slog.NewTextHandler(log, nil)),
	}
}

// statusOf is an answer's status, 0 when there is none.
func statusOf(t *testing.T, url string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}
