package evm

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// QuestionKind is what a question asks for.
type QuestionKind uint8

// The kinds.
const (
	AskCall     QuestionKind = iota // eth_call
	AskCode                         // eth_getCode
	AskStorage                      // eth_getStorageAt
	AskGasPrice                     // eth_gasPrice, whatever the block
)

// Override replaces the state of an account for a call.
type Override struct {
	Account market.Address
	Code    []byte         // nil leaves the code
	Balance *market.Amount // nil leaves the balance
}

// Question is asked of a node at a block; the fields from Answer on are what came back.
type Question struct {
	Kind QuestionKind
	To   market.Address
	// Slot is what AskStorage reads.
	Slot [32]byte

	// From is none for the zero address. Data, Gas and GasPrice are an AskCall's; a gas of 0 is that of a plain view.
	From     market.Address
	Data     []byte
	Gas      uint64
	GasPrice uint64
	// Overrides make the call a simulation, which only some endpoints can do.
	Overrides []Override

	// Answer is nil unless OK.
	Answer []byte
	OK     bool
	// Reverted says that the contract refused the call, Failed that the node did, for whatever reason.
	Reverted, Failed bool
}

// viewGas bounds what a plain view may burn, and with it how long an answer a hostile contract can make.
const viewGas = 1_000_000

// ErrNoOverride means that no endpoint simulates calls with state overrides.
var ErrNoOverride = errors.New("no endpoint takes state overrides")

// ErrStateGone means that no endpoint keeps the state after the block, or that the block is no longer the chain's.
var ErrStateGone = errors.New("no endpoint has the state after the block")

// overrideRetry is how long an endpoint that was found without state overrides is left at that.
const overrideRetry = 10 * time.Minute

// overrides is which endpoints simulate calls with state overrides.
type overrides struct {
	mu    sync.Mutex
	known map[*endpoint]overrideState
}

type overrideState struct {
	can bool
	at  time.Time
}

// Overrides says of each endpoint that has been asked whether it simulates calls with state overrides, by its name.
func (s *Source) Overrides() map[string]bool {
	s.overrides.mu.Lock()
	defer s.overrides.mu.Unlock()
	out := make(map[string]bool, len(s.overrides.known))
	for e, k := range s.overrides.known {
		out[e.Name] = k.can
	}
	return out
}

// Ask sends all questions as one batch to one endpoint, at a block. A contract's or a node's refusal of one of them is no error.
// ErrNoOverride and ErrStateGone are in the error's tree where they are the reason; then there are no answers.
func (s *Source) Ask(ctx context.Context, at chain.Ref, questions []*Question) error {
	simulates := false
	for _, q := range questions {
		simulates = simulates || len(q.Overrides) > 0
	}
	var errs []error
	gone, incapable := 0, 0
	candidates := s.pool.Candidates()
	for _, e := range candidates {
		if simulates {
			can, err := s.canOverride(ctx, e)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", e.Name, err))
				continue
			}
			if !can {
				incapable++
				continue
			}
		}
		var refusal error
		err := s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) (err error) {
			refusal, err = askQuestions(ctx, e, at, questions)
			return err
		})
		err = cmp.Or(err, refusal)
		switch {
		case err == nil:
			if simulates {
				s.doubt(e, questions)
			}
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case node.StateMissing(err, false), errors.Is(err, node.ErrReplaced):
			gone++
		}
		errs = append(errs, fmt.Errorf("%s: %w", e.Name, err))
	}
	switch {
	case gone > 0 && gone == len(errs):
		errs = append(errs, ErrStateGone)
	case incapable > 0 && len(errs) == 0:
		errs = append(errs, ErrNoOverride)
	}
	return fmt.Errorf("chain %s: %w: %w", s.pool.Chain, rpc.ErrUnanswered, errors.Join(errs...))
}

// doubt forgets that an endpoint simulates once it answered as if it had no overrides: the next simulation probes it again.
func (s *Source) doubt(e *endpoint, questions []*Question) {
	for _, q := range questions {
		if len(q.Overrides) > 0 && (q.Failed || (q.OK && len(q.Answer) == 0)) {
			s.overrides.mu.Lock()
			delete(s.overrides.known, e)
			s.overrides.mu.Unlock()
			return
		}
	}
}

// selfBalance is runtime code that returns its account's balance: what a probe is answered with shows that both the code
// and the balance were taken. SELFBALANCE is as old as the oldest chain here.
var selfBalance = []byte{0x47, 0x60, 0x00, 0x52, 0x60, 0x20, 0x60, 0x00, 0xf3}

// canOverride reports whether an endpoint takes state overrides. If that isn't known yet, a trivial simulation shows it. An error says that the endpoint couldn't be asked.
func (s *Source) canOverride(ctx context.Context, e *endpoint) (bool, error) {
	s.overrides.mu.Lock()
	k, known := s.overrides.known[e]
	s.overrides.mu.Unlock()
	if known && (k.can || s.pool.Now().Sub(k.at) < overrideRetry) {
		return k.can, nil
	}
	account, err := market.AddressFromBytes([]byte("boardwalk probes it:"))
	if err != nil {
		return false, err
	}
	var balance market.Amount
	balance.SetBytes([]byte("boardwalk"))
	q := &Question{
		To: account, From: account,
		Overrides: []Override{{Account: account, Code: selfBalance, Balance: &balance}},
	}
	err = s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) error {
		r := q.request("latest")
		r.Optional = true
		if err := e.Do(ctx, r); err != nil {
			return err
		}
		q.settle(r.Err)
		return nil
	})
	if err != nil {
		return false, err
	}
	got, ok := q.Uint()
	can := ok && got == balance
	s.overrides.mu.Lock()
	if s.overrides.known == nil {
		s.overrides.known = map[*endpoint]overrideState{}
	}
	s.overrides.known[e] = overrideState{can, s.pool.Now()}
	s.overrides.mu.Unlock()
	return can, nil
}

// noBlockHash reports whether a node refused a call because it takes blocks by number alone (it lacks EIP-1898).
func noBlockHash(err error) bool {
	var refusal *rpc.NodeError
	return errors.As(err, &refusal) && refusal.Code == node.InvalidParams && objectRefused.MatchString(refusal.Message)
}

// objectRefused are words by which nodes say that they wanted a quantity or a tag where they got a block's hash.
var objectRefused = regexp.MustCompile(`(?i)unmarshal object|blockHash|block (number|parameter|tag)|invalid type: map`)

// askQuestions asks about a block by its hash. An endpoint that takes no hash is asked by the number, and asked for the block of that number
// before and after: its answers count only where both are the block that is meant.
func askQuestions(ctx context.Context, e *endpoint, at chain.Ref, questions []*Question) (refusal, err error) {
	if at.Hash.IsZero() {
		return askAt(ctx, e, rpc.HexQuantity(at.Number), questions)
	}
	refusal, err = askAt(ctx, e, map[string]any{"blockHash": at.Hash.String(), "requireCanonical": true}, questions)
	if !noBlockHash(err) {
		return refusal, err
	}
	is := func() error {
		var h chain.Header
		if err := e.Do(ctx, node.HeaderRequest(at.Number, &h)); err != nil {
			return err
		}
		if h.Hash != at.Hash {
			return node.ErrReplaced
		}
		return nil
	}
	if err := is(); err != nil {
		return nil, err
	}
	if refusal, err = askAt(ctx, e, rpc.HexQuantity(at.Number), questions); err != nil {
		return nil, err
	}
	return refusal, is()
}

// askAt gives as refusal what a node said that refused every question: that may be a hostile contract's doing, so that the
// endpoint isn't left aside for it.
func askAt(ctx context.Context, e *endpoint, block any, questions []*Question) (refusal, err error) {
	reqs := make([]*rpc.Request, len(questions))
	for i, q := range questions {
		q.Answer, q.OK, q.Reverted, q.Failed = nil, false, false, false
		reqs[i] = q.request(block)
		reqs[i].Optional = true
	}
	if len(reqs) == 0 {
		return nil, nil
	}
	if err := e.Do(ctx, reqs...); err != nil {
		return nil, err
	}
	refused := 0
	for i, q := range questions {
		q.settle(reqs[i].Err)
		if q.Failed {
			refused++
		}
		if node.StateMissing(reqs[i].Err, false) || noBlockHash(reqs[i].Err) {
			return nil, reqs[i].Err
		}
	}
	if refused == len(questions) {
		return reqs[0].Err, nil
	}
	return nil, nil
}

// settle notes why there is no answer. Only the kind of the refusal is kept: a node may put anything into its text.
func (q *Question) settle(err error) {
	switch {
	case err == nil:
	case node.Reverted(err):
		q.Reverted = true
	default:
		q.Failed = true
	}
}

func (q *Question) request(block any) *rpc.Request {
	r := &rpc.Request{Take: q.take}
	switch q.Kind {
	case AskCode:
		r.Method, r.Params = "eth_getCode", []any{q.To.String(), block}
	case AskStorage:
		r.Method, r.Params = "eth_getStorageAt", []any{q.To.String(), "0x" + hex.EncodeToString(q.Slot[:]), block}
	case AskGasPrice:
		r.Method = "eth_gasPrice"
	case AskCall:
		gas := q.Gas
		if gas == 0 {
			gas = viewGas
		}
		call := map[string]any{"to": q.To.String(), "data": "0x" + hex.EncodeToString(q.Data), "gas": rpc.HexQuantity(gas)}
		if !q.From.IsNone() {
			call["from"] = q.From.String()
		}
		if q.GasPrice > 0 {
			call["gasPrice"] = rpc.HexQuantity(q.GasPrice)
		}
		r.Method, r.Params = "eth_call", []any{call, block}
		if len(q.Overrides) > 0 {
			r.Params = append(r.Params, overrideParam(q.Overrides))
		}
	}
	return r
}

func overrideParam(list []Override) map[string]any {
	out := make(map[string]any, len(list))
	for _, o := range list {
		account := map[string]any{}
		if o.Code != nil {
			account["code"] = "0x" + hex.EncodeToString(o.Code)
		}
		if o.Balance != nil {
			account["balance"] = o.Balance.Hex()
		}
		out[o.Account.String()] = account
	}
	return out
}

// take keeps an answer of at most 64 KiB; a longer one counts as refused. An EVM's code is never longer than that here.
func (q *Question) take(raw json.RawMessage) error {
	if len(raw) < 4 || raw[0] != '"' || len(raw) > 2*ethcall.LongestAnswer+4 {
		q.Failed = q.Kind != AskCall
		q.Reverted = !q.Failed
		return nil
	}
	digits := strings.TrimPrefix(string(raw[1:len(raw)-1]), "0x")
	if (q.Kind == AskStorage || q.Kind == AskGasPrice) && len(digits) < 64 { // some nodes leave out leading zeros
		digits = strings.Repeat("0", 64-len(digits)) + digits
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		return fmt.Errorf("%w: an unreadable answer", rpc.ErrGarbage)
	}
	q.Answer, q.OK = b, true
	return nil
}

// Word is the i-th 32-byte word of the answer; ok is false where it has none.
func (q *Question) Word(i int) (w [32]byte, ok bool) {
	if !q.OK || i < 0 || len(q.Answer) < 32*(i+1) {
		return w, false
	}
	return [32]byte(q.Answer[32*i : 32*(i+1)]), true
}

// Uint is the first word of the answer as an amount.
func (q *Question) Uint() (v market.Amount, ok bool) {
	w, ok := q.Word(0)
	v.SetBytes32(w[:])
	return v, ok
}

// Address is the first word of the answer as an address; ok is false where it can't be one.
func (q *Question) Address() (a market.Address, ok bool) {
	w, ok := q.Word(0)
	if !ok || [12]byte(w[:12]) != [12]byte{} {
		return market.Address{}, false
	}
	return market.EVMAddress(w), true
}
