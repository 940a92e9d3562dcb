package database

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/uptrace/bun"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
)

// traceReads makes a span of each statement of the readers that belongs to a recorded span. Where no traces are sent the connections get no hook. Writers
// get none at all: a commit is one span of the indexer's, and has tens of statements.
func (s *DB) traceReads() {
	if span.IsOn() {
		hook := readSpans{system: s.system()}
		s.Read, s.reserve = s.Read.WithQueryHook(hook), s.reserve.WithQueryHook(hook)
	}
}

func (s *DB) system() string {
	if s.IsPostgres() {
		return "postgresql"
	}
	return "sqlite"
}

// readSpans are the spans of bun's statements. They have the operation and the table, but no text: bun writes the arguments into it.
type readSpans struct{ system string }

var _ bun.QueryHook = readSpans{}

// readKey is the key of a statement's span in its context. AfterQuery ends that span, and not the span of the caller.
type readKey struct{}

// BeforeQuery implements bun.QueryHook.
func (r readSpans) BeforeQuery(ctx context.Context, e *bun.QueryEvent) context.Context {
	table := ""
	if e.IQuery != nil {
		table = e.IQuery.GetTableName()
	}
	ctx, s := startRead(ctx, r.system, e.Operation(), table)
	return context.WithValue(ctx, readKey{}, s)
}

// AfterQuery implements bun.QueryHook.
func (readSpans) AfterQuery(ctx context.Context, e *bun.QueryEvent) {
	if s, ok := ctx.Value(readKey{}).(trace.Span); ok {
		endRead(s, e.Err)
	}
}

// startRead begins the span of a statement, if there is a recorded one around it.
func startRead(ctx context.Context, system, operation, table string) (context.Context, trace.Span) {
	operation = strings.ToUpper(operation)
	ctx, s := span.Child(ctx, strings.TrimSpace(operation+" "+table), trace.SpanKindClient)
	if s.IsRecording() {
		s.SetAttributes(attribute.String("db.system.name", system), attribute.String("db.operation.name", operation))
		if table != "" {
			s.SetAttributes(attribute.String("db.collection.name", table))
		}
	}
	return ctx, s
}

// endRead ends the span of a statement. sql.ErrNoRows counts as no error.
func endRead(s trace.Span, err error) {
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	span.End(s, err)
}

// startAsk begins the span of a fixed statement.
func (s *DB) startAsk(ctx context.Context, text string) (context.Context, trace.Span) {
	if !span.IsWithin(ctx) {
		return ctx, noop.Span{}
	}
	words := strings.Fields(text)
	table := ""
	if from := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, "from") }); from >= 0 && from+1 < len(words) {
		table = strings.Trim(words[from+1], "(),")
	}
	return startRead(ctx, s.system(), words[0], table)
}
