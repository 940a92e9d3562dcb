package main

import (
	"context"
	"errors"
)

const ponderVersion = "0.16.10"

func (l *lab) ponder(ctx context.Context, counted *rows) (*contender, error) {
	return nil, errors.New("not yet")
}
