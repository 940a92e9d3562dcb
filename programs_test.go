package main

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
)

// TestTheWaitForADatabaseIsLogged: where packets are dropped nobody refuses a connection, and whoever reads the log must learn all the same
// what the program waits for.
func TestTheWaitForADatabaseIsLogged(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // it takes connections and never answers
	var log output
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := openStore(ctx, "postgres://u:hunter2@"+l.Addr().String()+"/d?sslmode=disable", slog.New(slog.NewTextHandler(&log, nil)))
		done <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err == nil {
			t.Error("it has a database that nobody answers for")
		}
	})
	until(t, "it says what it waits for", func() bool { return strings.Contains(log.String(), "waiting for the database") })
	if strings.Contains(log.String(), "hunter2") {
		t.Errorf("the password is in the log: %s", log.String())
	}
}
