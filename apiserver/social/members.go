package social

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/lookup"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/apiserver/read/profit"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func (h *Handlers) family(r *serve.Request) (*serve.Answer, error) {
	s, err := lookup.Named(r, h.Readers.Tokens, "mint")
	if err != nil {
		return nil, err
	}
	t := tokenOf(r.Seen.Catalog, s.Chain, s.Token.Token.Mint)
	in, stale, err := h.Readers.Profit.In(r.Context(), []profit.Token{t})
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	out := contract.TokenFamily{
		Mint: t.Mint.String(), Chain: t.Chain, Holders: []contract.FamilyHolder{}, AsOf: wire.Timestamp(s.Changed.At), Stale: stale || s.Stale,
		UnknownReasons: contract.UnknownReasons{},
	}
	if len(s.Candidates) > 0 {
		out.ChainCandidates = &s.Candidates
	}
	list := in[t]
	out.Count = counted(r, len(list), out.UnknownReasons)
	for _, m := range list[:min(len(list), int(r.Number("limit")))] {
		out.Holders = append(out.Holders, contract.FamilyHolder{Handle: m.Handle})
	}
	return serve.Encode(out)
}

// tokenOf names a token of a declared chain.
func tokenOf(in *declared.Catalog, chain string, mint market.Address) profit.Token {
	return profit.Token{Chain: chain, Family: in.Chain(chain).Family, Mint: mint}
}

// counted is a count of members, which is unknown where no member is known.
func counted(r *serve.Request, n int, why contract.UnknownReasons) *int {
	if n == 0 && r.Seen.Members.IsEmpty() {
		why["count"] = contract.UnknownReasonUnavailable
		return nil
	}
	return &n
}

// mostFaces is how many members of a token show their faces.
const mostFaces = 5

func (h *Handlers) membersIn(r *serve.Request) (*serve.Answer, error) {
	wanted, err := lookup.Tokens(r, h.Readers.Tokens, "mints")
	if err != nil {
		return nil, err
	}
	out := contract.MembersIn{Tokens: map[string]contract.TokenMembers{}, Missing: []string{}}
	asked := map[string]profit.Token{}
	var tokens []profit.Token
	var newest int64
	for _, q := range wanted {
		s := q.Found
		if s == nil {
			out.Missing = append(out.Missing, q.Text)
			continue
		}
		t := tokenOf(r.Seen.Catalog, s.Chain, s.Token.Token.Mint)
		asked[q.Text], tokens = t, append(tokens, t)
		newest, out.Stale = max(newest, s.Changed.At), out.Stale || s.Stale
	}
	in, stale, err := h.Readers.Profit.In(r.Context(), tokens)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	for text, t := range asked {
		list := in[t]
		of := contract.TokenMembers{Faces: []contract.Face{}, UnknownReasons: contract.UnknownReasons{}}
		of.Count = counted(r, len(list), of.UnknownReasons)
		for _, m := range list[:min(len(list), mostFaces)] {
			of.Faces = append(of.Faces, faceOf(m))
		}
		out.Tokens[text] = of
	}
	out.Stale, out.AsOf = out.Stale || stale, r.AsOf(newest)
	return serve.Encode(out)
}

func faceOf(m members.Member) contract.Face {
	out := contract.Face{Handle: m.Handle, UnknownReasons: contract.UnknownReasons{}}
	if m.AvatarURL != "" {
		out.AvatarURL = &m.AvatarURL
	} else {
		out.UnknownReasons["avatar_url"] = contract.UnknownReasonNotApplicable
	}
	return out
}
