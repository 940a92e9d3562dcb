package social

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/lookup"
	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
)

func (h *Handlers) family(r *serve.Request) (*serve.Answer, error) {
	s, err := lookup.Named(r, h.Readers.Tokens, "mint")
	if err != nil {
		return nil, err
	}
	mint := s.Token.Token.Mint
	in := r.Seen.TokenMembers.In(s.Chain, mint, int(r.Number("limit")))
	out := contract.TokenFamily{
		Mint: mint.String(), Chain: s.Chain, Holders: []contract.FamilyHolder{}, AsOf: wire.Timestamp(s.Changed.At), Stale: s.Stale || r.Seen.TokenMembers.IsFailing(),
		UnknownReasons: contract.UnknownReasons{},
	}
	if len(s.Candidates) > 0 {
		out.ChainCandidates = &s.Candidates
	}
	out.Count = counted(r, s.Chain, in.Count, out.UnknownReasons)
	for _, m := range in.First {
		out.Holders = append(out.Holders, contract.FamilyHolder{Handle: m.Handle})
	}
	return serve.Encode(out)
}

// counted is a count of members in a token of a chain, which may be unknown.
func counted(r *serve.Request, chain string, n int, why contract.UnknownReasons) *int {
	if !r.Seen.TokenMembers.IsKnown(chain) {
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
	var newest int64
	for _, q := range wanted {
		s := q.Found
		if s == nil {
			out.Missing = append(out.Missing, q.Text)
			continue
		}
		newest, out.Stale = max(newest, s.Changed.At), out.Stale || s.Stale
		in := r.Seen.TokenMembers.In(s.Chain, s.Token.Token.Mint, mostFaces)
		of := contract.TokenMembers{Faces: []contract.Face{}, UnknownReasons: contract.UnknownReasons{}}
		of.Count = counted(r, s.Chain, in.Count, of.UnknownReasons)
		for _, m := range in.First {
			of.Faces = append(of.Faces, faceOf(m))
		}
		out.Tokens[q.Text] = of
	}
	out.Stale, out.AsOf = out.Stale || r.Seen.TokenMembers.IsFailing(), r.AsOf(newest)
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
