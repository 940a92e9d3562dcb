package solana

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Accounts of Token-2022 are of several kinds: a multisig is known by its length, a token account by the byte behind what SPL Token's has.
const (
	multisigLen       = 355
	accountTypeHolder = 2
)

// TellsHolders reports that nodes tell who has a token, and not which transfers there were.
func (History) TellsHolders() bool { return true }

// HoldersOf asks one endpoint after the other for all accounts of a token, as they are after a final block.
func (h History) HoldersOf(ctx context.Context, token market.Address, noEarlier uint64, most int64) iter.Seq2[chain.Holdings, error] {
	return func(yield func(chain.Holdings, error) bool) {
		for _, e := range h.s.pool.Candidates() {
			var told chain.Holdings
			var refused error
			err := h.s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) (err error) {
				told, refused, err = e.holdersOn(ctx, token, noEarlier, most)
				return err
			})
			if err = errors.Join(err, refused); err == nil && told.After > max(noEarlier, h.s.highest())+ahead {
				err = fmt.Errorf("%w: accounts of slot %d, and no endpoint has come so far", rpc.ErrGarbage, told.After)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", e.Name, err)
			}
			told.Alone = len(h.s.pool.List) == 1
			if !yield(told, err) {
				return
			}
		}
	}
}

// longestHoldings is the longest answer that is read: longer ones hold up what else is read, as blocks.
const longestHoldings = 64 << 20

// holdersOn asks an endpoint. Many providers refuse the question; that is no fault of theirs.
func (e *endpoint) holdersOn(ctx context.Context, token market.Address, noEarlier uint64, most int64) (out chain.Holdings, refused, err error) {
	mints, err := e.accountsOn(ctx, []market.Address{token}, noEarlier)
	if err != nil {
		return out, nil, err
	}
	if _, ok := layout.MintOf(&mints[0].Account); !ok {
		return out, fmt.Errorf("%s is no token now", token), nil
	}
	ask := holdersQuestion(token, mints[0].Owner == layout.Token2022Program, noEarlier)
	ask.Take = func(raw json.RawMessage) (err error) {
		out, err = holdings(raw, mints[0].Owner == layout.Token2022Program, most)
		return err
	}
	if refused, err = e.askHolders(ctx, ask); errors.Is(refused, rpc.ErrTooLong) {
		return chain.Holdings{TooMany: true}, nil, nil
	}
	if err == nil && refused == nil && !out.TooMany && out.After < noEarlier {
		err = fmt.Errorf("%w: asked for accounts no earlier than at slot %d, got those of slot %d", rpc.ErrGarbage, noEarlier, out.After)
	}
	return out, refused, err
}

// askHolders asks who has a token. Refused is why the endpoint doesn't tell: what it answers instead, how long its answer is, or that it takes too long.
func (e *endpoint) askHolders(ctx context.Context, ask *rpc.Request) (refused, err error) {
	err = e.DoWithin(ctx, longestHoldings, ask)
	status, isStatus := errors.AsType[rpc.StatusError](err)
	switch {
	case err == nil:
		return ask.Err, nil
	case errors.Is(err, rpc.ErrTooLong), isStatus && !rateRefused(status), ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return err, nil
	default:
		return nil, err
	}
}

// holdersQuestion asks for the accounts of a token of SPL Token, or of Token-2022, at a final block that is no earlier than a given one.
func holdersQuestion(token market.Address, is2022 bool, noEarlier uint64) *rpc.Request {
	of, length := layout.TokenProgram, layout.TokenAccountSumEnd-layout.TokenAccountOwnerAt
	filters := []any{map[string]any{"memcmp": map[string]any{"offset": 0, "bytes": token.String()}}}
	if is2022 {
		of, length = layout.Token2022Program, layout.AccountTypeAt+1-layout.TokenAccountOwnerAt
	} else {
		filters = append(filters, map[string]any{"dataSize": layout.TokenAccountLen})
	}
	return &rpc.Request{
		Method: "getProgramAccounts", Optional: true,
		Params: []any{of.String(), map[string]any{
			"encoding": "base64", "commitment": "finalized", "withContext": true, "minContextSlot": noEarlier, "filters": filters,
			"dataSlice": map[string]any{"offset": layout.TokenAccountOwnerAt, "length": length},
		}},
	}
}

// holdings reads an answer account by account: there may be hundreds of thousands.
func holdings(raw json.RawMessage, is2022 bool, most int64) (out chain.Holdings, err error) {
	garbage := func(err error) (chain.Holdings, error) {
		return chain.Holdings{}, fmt.Errorf("%w: accounts of a token: %.100s", rpc.ErrGarbage, err.Error())
	}
	out.Amounts = map[market.Address]uint64{}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return garbage(errors.Join(errors.New("no object"), err))
	}
	hasSlot, hasAccounts := false, false
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return garbage(err)
		}
		switch name {
		case "context":
			var at wireContext
			if err := d.Decode(&at); err != nil {
				return garbage(err)
			}
			out.After, hasSlot = at.Slot, true
		case "value":
			if out.TooMany, err = readHoldings(d, is2022, most, out.Amounts); err != nil {
				return garbage(err)
			}
			if hasAccounts = true; out.TooMany {
				return chain.Holdings{TooMany: true}, nil
			}
		default:
			var skipped json.RawMessage
			if err := d.Decode(&skipped); err != nil {
				return garbage(err)
			}
		}
	}
	if !hasSlot || !hasAccounts {
		return garbage(errors.New("a slot or the accounts are missing"))
	}
	return out, nil
}

// readHoldings sums up what owners have. It stops where there are more of them than wanted.
func readHoldings(d *json.Decoder, is2022 bool, most int64, amounts map[market.Address]uint64) (tooMany bool, err error) {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return false, errors.Join(errors.New("no list"), err)
	}
	for d.More() {
		var a struct {
			Account *struct {
				Data  []string `json:"data"`
				Space int      `json:"space"`
			} `json:"account"`
		}
		if err := d.Decode(&a); err != nil {
			return false, err
		}
		if a.Account == nil || len(a.Account.Data) != 2 || a.Account.Data[1] != "base64" {
			return false, errors.New("an account without its data")
		}
		data, err := base64.StdEncoding.DecodeString(a.Account.Data[0])
		if err != nil {
			return false, err
		}
		const whole = layout.TokenAccountLen - layout.TokenAccountOwnerAt
		if is2022 && (a.Account.Space == multisigLen || len(data) < whole || len(data) > whole && data[whole] != accountTypeHolder) {
			continue // it is of another kind, and begins as this token's accounts do
		}
		if len(data) < layout.TokenAccountSumEnd-layout.TokenAccountOwnerAt {
			return false, errors.New("a token account that is too short")
		}
		owner, amount := market.SolanaAddress([32]byte(data)), binary.LittleEndian.Uint64(data[32:])
		if amount == 0 {
			continue
		}
		if amounts[owner] += amount; amounts[owner] < amount {
			return false, errors.New("an owner with more than there can be")
		}
		if int64(len(amounts)) > most {
			return true, nil
		}
	}
	if _, err := d.Token(); err != nil {
		return false, err
	}
	return false, nil
}
