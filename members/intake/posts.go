package intake

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/members/intake/posttext"
)

// postBody is what is written of a post.
type postBody struct {
	Kind   string `json:"kind"`
	Member string `json:"member"`
	// Parent is of a reply.
	Parent *string `json:"parent"`
	// Chain and Mint are of a family post and of a comment.
	Chain *string `json:"chain"`
	Mint  *string `json:"mint"`
	// Trade is of a post that is a note.
	Trade     *tradeBody     `json:"trade"`
	Text      string         `json:"text"`
	TokenRefs []tokenRefBody `json:"token_refs"`
	PostedAt  *time.Time     `json:"posted_at"`
	UpdatedAt *time.Time     `json:"updated_at"`
}

// tradeBody names a trade.
type tradeBody struct {
	Chain string `json:"chain"`
	Tx    string `json:"tx"`
	Mint  string `json:"mint"`
}

type postLine struct {
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
	postBody
}

// post makes the record of a post.
func (rd *Reader) post(id string, b *postBody, deleted bool) (member.Record, error) {
	p := &member.PostRecord{ID: member.PostID(id)}
	rec := member.Record{ID: member.ID(b.Member), Deleted: deleted, Post: p}
	var f faults
	f.check("id", id, member.CheckID(id))
	rec.UpdatedAt = f.updatedAt(b.UpdatedAt, rd.Now())
	if deleted {
		rec.ID = ""
		return rec, f.problem()
	}
	var err error
	p.Kind, err = member.ParsePostKind(b.Kind)
	f.check("kind", b.Kind, err)
	f.check("member", b.Member, member.CheckID(b.Member))
	if err == nil {
		f.placeOf(p, b)
	}
	if b.Trade != nil {
		p.Trade.Chain, p.Trade.Mint = f.token("trade.", b.Trade.Chain, b.Trade.Mint)
		p.Trade.Tx, err = member.ParseTx(b.Trade.Tx)
		f.check("trade.tx", b.Trade.Tx, err)
	}
	if f.check("text", b.Text, member.CheckText(b.Text)); strings.TrimSpace(b.Text) == "" {
		f.add("text", "says nothing")
	}
	p.Text, p.Refs = b.Text, f.tokenRefs(b.TokenRefs)
	if b.PostedAt != nil {
		p.PostedAt = f.pastTime("posted_at", b.PostedAt, rd.Now())
	}
	return rec, f.problem()
}

// placeOf reads where a post of a kind stands.
func (f *faults) placeOf(p *member.PostRecord, b *postBody) {
	given := func(field string, isGiven bool, whose string, has bool) {
		if isGiven && !has {
			f.add(field, "is given; only "+whose+" has one")
		}
	}
	given("parent", b.Parent != nil, "a reply", p.Kind == member.PostReply)
	given("chain", b.Chain != nil, "a family post or a comment", p.Kind.HasToken())
	given("mint", b.Mint != nil, "a family post or a comment", p.Kind.HasToken())
	given("trade", b.Trade != nil, "a post that stands alone", p.Kind == member.PostAlone)
	if p.Kind == member.PostReply {
		f.check("parent", orEmpty(b.Parent), member.CheckID(orEmpty(b.Parent)))
		p.Parent = member.PostID(orEmpty(b.Parent))
	}
	if p.Kind.HasToken() {
		p.Chain, p.Mint = f.token("", orEmpty(b.Chain), orEmpty(b.Mint))
	}
}

// orEmpty is a text that may be missing.
func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (h *handler) getPost(r *request) (*reply, error) {
	id, err := r.text("id")
	if err != nil {
		return nil, err
	}
	if member.CheckID(id) != nil {
		return nil, member.ErrNoPost
	}
	p, err := h.Registry.Post(r.Context(), member.PostID(id))
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, member.ErrNoPost
	}
	out, err := h.answerPosts(r, []member.Post{*p})
	if err != nil {
		return nil, err
	}
	return answerJSON(out[0])
}

func (h *handler) putPost(r *request) (*reply, error) { return put(h, r, h.reader.post) }

func (h *handler) deletePost(r *request) (*reply, error) {
	return h.remove(r, func(id string, at *time.Time) (member.Record, error) {
		return h.reader.post(id, &postBody{UpdatedAt: at}, true)
	})
}

// mostPosts is how many posts one answer has at most. A post has up to 16 KiB, and what it names.
const mostPosts = 100

func (h *handler) getPosts(r *request) (*reply, error) {
	after, limit, err := r.page(mostPosts)
	if err != nil {
		return nil, err
	}
	last, err := h.Registry.LastPostChange(r.Context())
	if err != nil {
		return nil, err
	}
	list, err := h.Registry.PostChanges(r.Context(), after, limit)
	if err != nil {
		return nil, err
	}
	out := struct {
		Posts []postAnswer `json:"posts"`
		// Last is the number of the last change that there is.
		Last int64 `json:"last"`
	}{Last: last}
	if out.Posts, err = h.answerPosts(r, list); err != nil {
		return nil, err
	}
	return answerJSON(out)
}

// postAnswer is a post as it stands, with what its text names by now.
type postAnswer struct {
	ID        member.PostID     `json:"id"`
	Member    member.ID         `json:"member"`
	Kind      member.PostKind   `json:"kind"`
	Parent    *string           `json:"parent"`
	Chain     *string           `json:"chain"`
	Mint      *string           `json:"mint"`
	Trade     *tradeBody        `json:"trade"`
	Text      string            `json:"text"`
	TokenRefs []member.TokenRef `json:"token_refs"`
	Rich      posttext.Answer   `json:"rich"`
	PostedAt  string            `json:"posted_at"`
	Deleted   bool              `json:"deleted"`
	UpdatedAt string            `json:"updated_at"`
	Change    int64             `json:"change"`
}

// answerPosts looks up what posts name, and gives them as they are answered.
func (h *handler) answerPosts(r *request, posts []member.Post) ([]postAnswer, error) {
	authors, err := h.authors(r, posts)
	if err != nil {
		return nil, err
	}
	rich, err := h.texts.Find(r.Context(), posts)
	if err != nil {
		return nil, err
	}
	out := make([]postAnswer, len(posts))
	for i := range posts {
		p := &posts[i]
		out[i] = postAnswer{
			ID: p.ID, Member: authors[p.Member], Kind: p.Kind, Parent: optional(string(p.Parent)), Chain: optional(p.Chain), Text: p.Text, TokenRefs: p.Refs, Rich: rich[i],
			PostedAt: seconds(p.PostedAt), Deleted: p.DeletedAt > 0, UpdatedAt: micros(p.UpdatedAt), Change: p.Change,
		}
		if out[i].TokenRefs == nil {
			out[i].TokenRefs = []member.TokenRef{}
		}
		if p.Kind.HasToken() {
			out[i].Mint = new(addressText(p.Mint))
		}
		if p.Trade != (member.TradeRef{}) {
			out[i].Trade = &tradeBody{p.Trade.Chain, p.Trade.Tx.String(), addressText(p.Trade.Mint)}
		}
	}
	return out, nil
}

func (h *handler) authors(r *request, posts []member.Post) (map[member.Number]member.ID, error) {
	numbers := make([]member.Number, len(posts))
	for i := range posts {
		numbers[i] = posts[i].Member
	}
	return h.Registry.IDsOf(r.Context(), numbers)
}

// postRecord is a line of an export: the line that would write the post.
type postRecord struct {
	Kind      member.PostKind   `json:"kind"`
	ID        member.PostID     `json:"id"`
	Member    member.ID         `json:"member"`
	Parent    string            `json:"parent,omitempty"`
	Chain     string            `json:"chain,omitempty"`
	Mint      string            `json:"mint,omitempty"`
	Trade     *tradeBody        `json:"trade,omitempty"`
	Text      string            `json:"text"`
	TokenRefs []member.TokenRef `json:"token_refs,omitempty"`
	PostedAt  string            `json:"posted_at"`
	UpdatedAt string            `json:"updated_at"`
}

// exportPosts writes the posts of members who were written.
func (h *handler) exportPosts(r *request, w http.ResponseWriter, written map[member.ID]bool) error {
	out := json.NewEncoder(w)
	for above := int64(0); ; {
		list, err := h.Registry.PostsAbove(r.Context(), above, mostPosts)
		if err != nil || len(list) == 0 {
			return err
		}
		authors, err := h.authors(r, list)
		if err != nil {
			return err
		}
		if err := givePage(w); err != nil {
			return err
		}
		for i := range list {
			p := &list[i]
			above = p.Number
			if p.DeletedAt > 0 || !written[authors[p.Member]] {
				continue
			}
			if err := out.Encode(recordOf(p, authors[p.Member])); err != nil {
				return err
			}
		}
	}
}

func recordOf(p *member.Post, author member.ID) *postRecord {
	out := &postRecord{
		Kind: p.Kind, ID: p.ID, Member: author, Parent: string(p.Parent), Chain: p.Chain, Text: p.Text, TokenRefs: p.Refs, PostedAt: seconds(p.PostedAt),
		UpdatedAt: micros(p.UpdatedAt),
	}
	if p.Kind.HasToken() {
		out.Mint = addressText(p.Mint)
	}
	if p.Trade != (member.TradeRef{}) {
		out.Trade = &tradeBody{p.Trade.Chain, p.Trade.Tx.String(), addressText(p.Trade.Mint)}
	}
	return out
}
