package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"

	"github.com/gorilla/mux"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// query reads a request's query parameters and gathers what is wrong with them. An empty value counts as omitted.
type query struct {
	values url.Values
	errs   []contract.ParameterError
}

func newQuery(r *http.Request) *query { return &query{values: r.URL.Query()} }

func (q *query) bad(name, reason string, allowed ...string) {
	q.errs = append(q.errs, contract.ParameterError{
		In: contract.ParameterErrorInQuery, Name: name, Reason: reason, Allowed: allowed,
	})
}

// err is the problem with all that is wrong; nil when nothing is.
func (q *query) err() error {
	if len(q.errs) == 0 {
		return nil
	}
	return badParameters(q.errs...)
}

// integer reads a whole number within [low, high]; fallback stands for an omitted one.
func (q *query) integer(name string, fallback, low, high int64) int64 {
	s := q.values.Get(name)
	if s == "" {
		return fallback
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < low || n > high {
		lowest, highest := float64(low), float64(high)
		q.errs = append(q.errs, contract.ParameterError{
			In: contract.ParameterErrorInQuery, Name: name, Reason: fmt.Sprintf("must be a whole number from %d to %d", low, high),
			Min: &lowest, Max: &highest,
		})
		return fallback
	}
	return n
}

func (q *query) boolean(name string, fallback bool) bool {
	switch q.values.Get(name) {
	case "":
		return fallback
	case "true":
		return true
	case "false":
		return false
	default:
		q.bad(name, "must be true or false", "true", "false")
		return fallback
	}
}

// choice reads one of the keys of a table.
func (q *query) choice(name, fallback string, allowed []string) string {
	s := q.values.Get(name)
	switch {
	case s == "":
		return fallback
	case !slices.Contains(allowed, s):
		q.bad(name, "must be one of the allowed values", allowed...)
		return fallback
	default:
		return s
	}
}

var (
	mintPattern    = regexp.MustCompile(`^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$`)
	pairPattern    = regexp.MustCompile(`^(0x[0-9a-fA-F]{40}([0-9a-fA-F]{24})?|[1-9A-HJ-NP-Za-km-z]{32,44})$`)
	chainIDPattern = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
)

func isEVM(address string) bool { return len(address) > 2 && address[:2] == "0x" }

func (a *API) chainIDs(fits func(Chain) bool) []string {
	out := []string{}
	for _, c := range a.Chains {
		if fits == nil || fits(c) {
			out = append(out, c.ID)
		}
	}
	return out
}

// subject is the token that a request is about.
type subject struct {
	view.Token
	// candidates are the chains that have a token at the address, when none was asked for and there are several.
	candidates []string
}

// subject finds the token that the path parameter names, on the chain of the query or else where its liquidity is
// deepest.
func (a *API) subject(r *http.Request, param string, q *query) (*subject, error) {
	mint := mux.Vars(r)[param]
	if !mintPattern.MatchString(mint) {
		return nil, badParameters(append([]contract.ParameterError{{
			In: contract.ParameterErrorInPath, Name: param,
			Reason: "must be a Solana mint (32 to 44 base58 characters) or 0x and 40 hexadecimal digits",
		}}, q.errs...)...)
	}
	chain, err := a.chain(param, mint, q)
	if err != nil {
		return nil, err
	}
	if !isEVM(mint) {
		return nil, tokenNotFound(mint, chain) // no Solana chain is indexed yet
	}
	return a.find(r.Context(), mint, chain)
}

// chain is the chain that the query names; empty when it names none.
func (a *API) chain(param, mint string, q *query) (string, error) {
	id := q.values.Get("chain")
	if id == "" {
		return "", q.err()
	}
	i := slices.IndexFunc(a.Chains, func(c Chain) bool { return c.ID == id })
	if i < 0 || !chainIDPattern.MatchString(id) {
		return "", a.unsupportedChain(id)
	}
	if err := q.err(); err != nil {
		return "", err
	}
	if a.Chains[i].EVM != isEVM(mint) {
		return "", a.unsupportedAddress(param, "The address is not one of chain "+id+".",
			func(c Chain) bool { return c.EVM == isEVM(mint) })
	}
	return id, nil
}

func (a *API) find(ctx context.Context, mint, chain string) (*subject, error) {
	address, err := market.ParseEVMAddress(mint)
	if err != nil {
		return nil, badParameters(contract.ParameterError{In: contract.ParameterErrorInPath, Name: "mint", Reason: err.Error()})
	}
	tokens, err := a.Tokens.Tokens(ctx, address)
	if err != nil {
		return nil, unavailable(err)
	}
	if chain != "" {
		i := slices.IndexFunc(tokens, func(t view.Token) bool { return t.Chain == chain })
		if i < 0 {
			return nil, tokenNotFound(address.String(), chain)
		}
		return &subject{Token: tokens[i]}, nil
	}
	if len(tokens) == 0 {
		return nil, tokenNotFound(address.String(), "")
	}
	s := &subject{Token: tokens[0]}
	if len(tokens) > 1 {
		for i := range tokens {
			s.candidates = append(s.candidates, tokens[i].Chain)
		}
	}
	return s, nil
}
