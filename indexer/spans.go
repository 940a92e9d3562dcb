package indexer

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
)

// startSpan begins a span with the chain's id. Requests to nodes within it are its children.
func (ix *Indexer) startSpan(ctx context.Context, name string, kind trace.SpanKind) (context.Context, trace.Span) {
	ctx, s := span.Start(ctx, name, kind)
	if s.IsRecording() {
		s.SetAttributes(attribute.String("boardwalk.chain", ix.cfg.ID))
	}
	return ctx, s
}

// startBlocks begins the span in which blocks are derived and committed.
func (ix *Indexer) startBlocks(ctx context.Context, name string, until market.Header, blocks ...market.Block) (context.Context, trace.Span) {
	ctx, s := ix.startSpan(ctx, name, trace.SpanKindInternal)
	if !s.IsRecording() {
		return ctx, s
	}
	logs := 0
	for i := range blocks {
		txs := blocks[i].Txs
		for j := range txs {
			logs += len(txs[j].Logs)
		}
	}
	s.SetAttributes(attribute.Int64("boardwalk.block", int64(until.Number)), attribute.Int("boardwalk.blocks", len(blocks)), attribute.Int("boardwalk.logs", logs))
	return ctx, s
}
