package intake

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/member/proof"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

// written is the answer to a write.
type written struct {
	Result member.Outcome `json:"result"`
}

func answerJSON(v any) (*reply, error) {
	body, err := json.Marshal(v)
	return &reply{status: http.StatusOK, media: jsonMedia, body: append(body, '\n')}, err
}

// apply writes one record.
func (h *handler) apply(r *request, rec *member.Record) (*reply, error) {
	records := []member.Record{*rec}
	if err := h.price(r.Context(), records); err != nil {
		return nil, err
	}
	applied, _, err := h.Registry.Apply(r.Context(), records, false, h.Now().Unix())
	if err != nil {
		return nil, err
	}
	if applied[0].Err != nil {
		return nil, applied[0].Err
	}
	return answerJSON(written{applied[0].Outcome})
}

// text is a part of the path.
func (r *request) text(name string) (string, error) {
	text, err := url.PathUnescape(r.vars[name])
	if err != nil {
		return "", invalidParameter(name, "has a percent sign that begins no escape")
	}
	return text, nil
}

func (h *handler) getMember(r *request) (*reply, error) {
	id, err := r.text("id")
	if err != nil {
		return nil, err
	}
	if member.CheckID(id) != nil {
		return nil, member.ErrNoMember
	}
	m, wallets, err := h.Registry.Member(r.Context(), member.ID(id))
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, member.ErrNoMember
	}
	return answerJSON(answerMember(m, wallets))
}

func (h *handler) putMember(r *request) (*reply, error) { return put(h, r, h.reader.member) }

func (h *handler) deleteMember(r *request) (*reply, error) {
	return h.remove(r, func(id string, at *time.Time) (member.Record, error) {
		return h.reader.member(id, &memberBody{UpdatedAt: at}, true)
	})
}

// put writes the record that read makes of the id in the path and of the body.
func put[B any](h *handler, r *request, read func(id string, body *B, deleted bool) (member.Record, error)) (*reply, error) {
	id, err := r.text("id")
	if err != nil {
		return nil, err
	}
	var b B
	if err := strict(r.body, &b); err != nil {
		return nil, err
	}
	rec, err := read(id, &b, false)
	if err != nil {
		return nil, err
	}
	return h.apply(r, &rec)
}

// remove writes the deletion that read makes of the id in the path and of updated_at.
func (h *handler) remove(r *request, read func(id string, updatedAt *time.Time) (member.Record, error)) (*reply, error) {
	id, err := r.text("id")
	if err != nil {
		return nil, err
	}
	at, err := r.updatedAt()
	if err != nil {
		return nil, err
	}
	rec, err := read(id, at)
	if err != nil {
		return nil, err
	}
	return h.apply(r, &rec)
}

// updatedAt is the parameter of a request without a body.
func (r *request) updatedAt() (*time.Time, error) {
	text := r.URL.Query().Get("updated_at")
	if text == "" {
		return nil, nil //nolint:nilnil // it is missing, which the record's own check says
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, invalidParameter("updated_at", notAllowed(text, errTime))
	}
	return &at, nil
}

var errTime = constError("allowed is a time as in 2026-03-04T05:06:07.123456Z")

// constError is an error that is its text.
type constError string

func (e constError) Error() string { return string(e) }

// named are the parts of the path that name a wallet.
func (r *request) named() (id, family, address string, err error) {
	if id, err = r.text("id"); err != nil {
		return id, "", "", err
	}
	wallet, err := r.text("wallet")
	if err != nil {
		return id, "", "", err
	}
	family, address, ok := strings.Cut(wallet, ":")
	if !ok {
		return id, "", "", invalidParameter("wallet", notAllowed(wallet, constError("allowed is a family, a colon and an address, as in evm:0x…")))
	}
	return id, family, address, nil
}

func (h *handler) putWallet(r *request) (*reply, error) {
	id, family, address, err := r.named()
	if err != nil {
		return nil, err
	}
	var b walletBody
	if err := strict(r.body, &b); err != nil {
		return nil, err
	}
	rec, err := h.reader.wallet(id, family, address, &b, false)
	if err != nil {
		return nil, err
	}
	return h.apply(r, &rec)
}

func (h *handler) deleteWallet(r *request) (*reply, error) {
	id, family, address, err := r.named()
	if err != nil {
		return nil, err
	}
	at, err := r.updatedAt()
	if err != nil {
		return nil, err
	}
	rec, err := h.reader.wallet(id, family, address, &walletBody{UpdatedAt: at, Chain: optional(r.URL.Query().Get("chain"))}, true)
	if err != nil {
		return nil, err
	}
	return h.apply(r, &rec)
}

// challengeBody asks for a challenge.
type challengeBody struct {
	Member  string `json:"member"`
	Family  string `json:"family"`
	Address string `json:"address"`
}

type challengeAnswer struct {
	Text      string `json:"text"`
	ExpiresAt string `json:"expires_at"`
}

func (h *handler) postChallenge(r *request) (*reply, error) {
	var b challengeBody
	if err := strict(r.body, &b); err != nil {
		return nil, err
	}
	var f faults
	f.check("member", b.Member, member.CheckID(b.Member))
	family, err := member.ParseFamily(b.Family)
	f.check("family", b.Family, err)
	c := proof.Challenge{Deployment: h.Deployment, Member: member.ID(b.Member), Family: family}
	if err == nil {
		c.Address, err = member.ParseAddress(family, b.Address)
		f.check("address", b.Address, err)
	}
	if err := f.problem(); err != nil {
		return nil, err
	}
	if m, _, err := h.Registry.Member(r.Context(), c.Member); err != nil {
		return nil, err
	} else if m == nil {
		return nil, member.ErrNoMember
	}
	c.Nonce, c.IssuedAt = strings.ReplaceAll(uuid.NewString(), "-", ""), h.Now()
	c.ExpiresAt = c.IssuedAt.Add(proof.Lifetime)
	text, err := c.Text()
	if err != nil {
		return nil, err
	}
	if err := h.Registry.Challenge(r.Context(), text, c.ExpiresAt.Unix()); err != nil {
		return nil, err
	}
	answer, err := answerJSON(challengeAnswer{text, seconds(c.ExpiresAt.Unix())})
	if err == nil {
		answer.lasts = proof.Lifetime
	}
	return answer, err
}

// mostBeats is the most members of one heartbeat.
const mostBeats = 10_000

func (h *handler) postPresence(r *request) (*reply, error) {
	var b struct {
		IDs []member.ID `json:"ids"`
	}
	if err := strict(r.body, &b); err != nil {
		return nil, err
	}
	if b.IDs == nil {
		return nil, invalid(FieldError{"ids", "is missing; allowed is a list of ids"})
	}
	if len(b.IDs) > mostBeats {
		return nil, tooLarge("Allowed are 10,000 members; there are " + strconv.Itoa(len(b.IDs)) + ".")
	}
	unknown, err := h.Presence.Seen(r.Context(), b.IDs)
	if err != nil {
		return nil, err
	}
	if unknown == nil {
		unknown = []member.ID{}
	}
	return answerJSON(struct {
		Unknown []member.ID `json:"unknown"`
	}{unknown})
}

// change is a change as it is answered, and a line of an export: the line that would write the same.
type change struct {
	Kind   string `json:"kind"`
	Change int64  `json:"change,omitempty"`

	ID        member.ID `json:"id,omitempty"`
	Handle    string    `json:"handle,omitempty"`
	AvatarURL *string   `json:"avatar_url,omitempty"`
	JoinedAt  string    `json:"joined_at,omitempty"`

	Member   member.ID    `json:"member,omitempty"`
	Family   string       `json:"family,omitempty"`
	Address  string       `json:"address,omitempty"`
	Chain    *string      `json:"chain,omitempty"`
	Public   *bool        `json:"public,omitempty"`
	Since    string       `json:"since,omitempty"`
	Attested bool         `json:"attested,omitempty"`
	Proof    *proofAnswer `json:"proof,omitempty"`

	Deleted   bool   `json:"deleted,omitempty"`
	UpdatedAt string `json:"updated_at"`
}

func changeOf(c *social.Change) change {
	if m := c.Member; m != nil {
		out := change{Kind: kindMember, Change: c.Number, ID: m.ID, UpdatedAt: micros(m.UpdatedAt), Deleted: m.LeftAt > 0}
		if !out.Deleted {
			out.Handle, out.AvatarURL, out.JoinedAt = m.Handle, optional(m.AvatarURL), seconds(m.JoinedAt)
		}
		return out
	}
	w := answerWallet(c.Wallet)
	out := change{
		Kind: kindWallet, Change: c.Number, Member: c.Wallet.Member, Family: w.Family, Address: w.Address, Chain: w.Chain, UpdatedAt: w.UpdatedAt,
		Deleted: c.Wallet.RemovedAt > 0 || c.Wallet.MemberLeft,
	}
	if !out.Deleted {
		out.Public, out.Since, out.Attested, out.Proof = &w.Public, w.Since, w.Attested, w.Proof
	}
	return out
}

const usualChanges, mostChanges = 100, 1000

// page says after which change a list begins, and how many changes it has, of at most so many.
func (r *request) page(most int64) (after int64, limit int, err error) {
	if after, err = r.number("after", 0, 0, 1<<53-1); err != nil {
		return 0, 0, err
	}
	n, err := r.number("limit", usualChanges, 1, most)
	return after, int(n), err
}

func (h *handler) getChanges(r *request) (*reply, error) {
	after, limit, err := r.page(mostChanges)
	if err != nil {
		return nil, err
	}
	last, err := h.Registry.LastChange(r.Context())
	if err != nil {
		return nil, err
	}
	list, err := h.Registry.Changes(r.Context(), after, limit)
	if err != nil {
		return nil, err
	}
	out := struct {
		Changes []change `json:"changes"`
		// Last is the number of the last change that there is.
		Last int64 `json:"last"`
	}{make([]change, len(list)), last}
	for i := range list {
		out.Changes[i] = changeOf(&list[i])
	}
	return answerJSON(out)
}

// number is a parameter of the query.
func (r *request) number(name string, usual, least, most int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, invalidParameter(name, notAllowed(text, constError("allowed is a whole number from "+
			strconv.FormatInt(least, 10)+" to "+strconv.FormatInt(most, 10))))
	}
	return n, nil
}

// getExport writes all members, their wallets and their posts as lines that an import reads: members first, since the other lines need them.
func (h *handler) getExport(r *request) (*reply, error) {
	return &reply{status: http.StatusOK, media: ndjsonMedia, stream: func(w http.ResponseWriter) error {
		written := map[member.ID]bool{} // each once, and no wallet without its member, whatever changes meanwhile
		err := h.export(r.Context(), w, func(c *change) bool {
			is := c.Kind == kindMember && !written[c.ID]
			written[c.ID] = written[c.ID] || is
			return is
		})
		if err != nil {
			return err
		}
		if err := h.export(r.Context(), w, func(c *change) bool { return c.Kind == kindWallet && written[c.Member] }); err != nil {
			return err
		}
		return h.exportPosts(r, w, written)
	}}, nil
}

// pageTime is how long a client may take for a page of an export.
const pageTime = 30 * time.Second

// givePage gives a client the time for a page.
func givePage(w http.ResponseWriter) error {
	return http.NewResponseController(w).SetWriteDeadline(time.Now().Add(pageTime)) //nolint:forbidigo // of a connection, which goes by the machine's own clock
}

// export writes the lines of members and wallets that are wanted, of what is there.
func (h *handler) export(ctx context.Context, w http.ResponseWriter, wanted func(*change) bool) error {
	out := json.NewEncoder(w)
	for after := int64(0); ; {
		list, err := h.Registry.Changes(ctx, after, mostChanges)
		if err != nil || len(list) == 0 {
			return err
		}
		if err := givePage(w); err != nil {
			return err
		}
		for i := range list {
			after = list[i].Number
			c := changeOf(&list[i])
			if c.Change = 0; c.Deleted || !wanted(&c) {
				continue
			}
			if err := out.Encode(c); err != nil {
				return err
			}
		}
	}
}
