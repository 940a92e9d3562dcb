package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	kjson "sigs.k8s.io/json"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/member/proof"
)

// memberBody is what is written of a member.
type memberBody struct {
	Handle    string     `json:"handle"`
	AvatarURL *string    `json:"avatar_url"`
	JoinedAt  *time.Time `json:"joined_at"`
	UpdatedAt *time.Time `json:"updated_at"`
}

// walletBody is what is written of a wallet.
type walletBody struct {
	// Chain is the chain of a contract wallet, else nil.
	Chain  *string    `json:"chain"`
	Public bool       `json:"public"`
	Since  *time.Time `json:"since"`
	// Of the two one is given.
	Attested  bool       `json:"attested"`
	Proof     *proofBody `json:"proof"`
	UpdatedAt *time.Time `json:"updated_at"`
}

type proofBody struct {
	Text      string `json:"text"`
	Signature string `json:"signature"`
	// CheckedAt is the time that an export gives; without it the text is a challenge that is answered.
	CheckedAt *time.Time `json:"checked_at"`
}

// memberLine and walletLine are lines of a batch, of an import and of an export.
type memberLine struct {
	Kind    string `json:"kind"`
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
	memberBody
}

type walletLine struct {
	Kind    string `json:"kind"`
	Member  string `json:"member"`
	Family  string `json:"family"`
	Address string `json:"address"`
	Deleted bool   `json:"deleted"`
	walletBody
}

// tokenRefBody says which token a text means by a ticker.
type tokenRefBody struct {
	Symbol string `json:"symbol"`
	Mint   string `json:"mint"`
	Chain  string `json:"chain"`
}

// The kinds of lines, but for those of posts.
const (
	kindMember = "member"
	kindWallet = "wallet"
	kindCall   = "call"
)

// Reader reads records as they are written, and says what is wrong with them.
type Reader struct {
	// Deployment is the address that challenges name.
	Deployment string
	Now        func() time.Time
}

// Line reads a line of a batch. The error is a *ProblemError.
func (rd *Reader) Line(raw []byte) (member.Record, error) {
	var kind struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return member.Record{}, invalid(whole(err))
	}
	switch kind.Kind {
	case kindMember:
		var l memberLine
		if err := strict(raw, &l); err != nil {
			return member.Record{}, err
		}
		return rd.member(l.ID, &l.memberBody, l.Deleted)
	case kindWallet:
		var l walletLine
		if err := strict(raw, &l); err != nil {
			return member.Record{}, err
		}
		return rd.wallet(l.Member, l.Family, l.Address, &l.walletBody, l.Deleted)
	case kindCall:
		var l callLine
		if err := strict(raw, &l); err != nil {
			return member.Record{}, err
		}
		return rd.call(l.ID, &l.callBody, l.Deleted)
	case string(member.PostAlone), string(member.PostReply), string(member.PostFamily), string(member.PostComment):
		var l postLine
		if err := strict(raw, &l); err != nil {
			return member.Record{}, err
		}
		return rd.post(l.ID, &l.postBody, l.Deleted)
	default:
		return member.Record{}, invalid(FieldError{"kind", notAllowed(kind.Kind, errKind)})
	}
}

var errKind = errors.New("allowed are member, wallet, call, post, reply, family and comment")

// member makes the record of a member.
func (rd *Reader) member(id string, b *memberBody, deleted bool) (member.Record, error) {
	rec := member.Record{ID: member.ID(id), Deleted: deleted}
	var f faults
	f.check("id", id, member.CheckID(id))
	rec.UpdatedAt = f.updatedAt(b.UpdatedAt, rd.Now())
	if deleted {
		return rec, f.problem()
	}
	f.check("handle", b.Handle, member.CheckHandle(b.Handle))
	rec.Handle = b.Handle
	if b.AvatarURL != nil {
		f.check("avatar_url", *b.AvatarURL, member.CheckAvatar(*b.AvatarURL))
		rec.AvatarURL = *b.AvatarURL
	}
	rec.JoinedAt = f.pastTime("joined_at", b.JoinedAt, rd.Now())
	return rec, f.problem()
}

// wallet makes the record of a wallet, and checks its signature.
func (rd *Reader) wallet(id, family, address string, b *walletBody, deleted bool) (member.Record, error) {
	w := &member.WalletRecord{Public: b.Public}
	rec := member.Record{ID: member.ID(id), Deleted: deleted, Wallet: w}
	var f faults
	f.check("member", id, member.CheckID(id))
	rec.UpdatedAt = f.updatedAt(b.UpdatedAt, rd.Now())
	var err error
	if w.Family, err = member.ParseFamily(family); err != nil {
		f.check("family", family, err)
	} else if w.Address, err = member.ParseAddress(w.Family, address); err != nil {
		f.check("address", address, err)
	}
	if b.Chain != nil {
		f.check("chain", *b.Chain, checkChain(*b.Chain, w.Family))
		w.Chain = *b.Chain
	}
	if deleted {
		w.Public = false
		return rec, f.problem()
	}
	if b.Since != nil {
		w.Since = f.pastTime("since", b.Since, rd.Now())
	}
	switch {
	case b.Attested == (b.Proof != nil):
		f.add("proof", "or attested: true must be given, and not both")
	case b.Proof != nil && w.Chain != "":
		f.add("proof", "is of a contract wallet, which signs nothing itself: attest it")
	case b.Proof != nil && f.none():
		rd.readProof(&f, &rec, b.Proof)
	}
	return rec, f.problem()
}

func (rd *Reader) readProof(f *faults, rec *member.Record, b *proofBody) {
	w := rec.Wallet
	w.Proof = &member.Proof{Text: b.Text, Signature: b.Signature}
	if b.CheckedAt != nil {
		w.Proof.CheckedAt = f.pastTime("proof.checked_at", b.CheckedAt, rd.Now())
	}
	if issued, ok := proof.Issued(b.Text, rd.Deployment, rec.ID, w.Family, w.Address); ok {
		w.Names, w.IssuedAt = true, issued.Unix()
	}
	err := proof.Check(w.Family, w.Address, b.Text, b.Signature)
	if errors.Is(err, proof.ErrForm) {
		f.add("proof.signature", err.Error())
	}
	w.Signed = err == nil
}

var errChain = errors.New("allowed is the id of a chain: 1 to 32 of the characters a-z, 0-9 and hyphen; Solana has no contract wallets")

func checkChain(id string, f chainconfig.Family) error {
	if f != chainconfig.EVM || member.CheckChain(id) != nil {
		return errChain
	}
	return nil
}

// faults collects what is wrong with the fields of a record.
type faults struct{ list []FieldError }

func (f *faults) add(field, reason string) { f.list = append(f.list, FieldError{field, reason}) }

func (f *faults) none() bool { return len(f.list) == 0 }

func (f *faults) check(field, value string, err error) {
	switch {
	case err == nil:
	case value == "":
		f.add(field, "is missing; "+err.Error())
	default:
		f.add(field, notAllowed(value, err))
	}
}

// token reads the chain and the address of a token, whose fields stand behind a prefix.
func (f *faults) token(at, chain, address string) (string, market.Address) {
	f.check(at+"chain", chain, member.CheckChain(chain))
	mint, err := member.ParseMint(address)
	f.check(at+"mint", address, err)
	return chain, mint
}

// tokenRefs reads which tokens a text's tickers mean.
func (f *faults) tokenRefs(list []tokenRefBody) (refs []member.TokenRef) {
	for i, ref := range list {
		at := fmt.Sprintf("token_refs[%d].", i)
		f.check(at+"symbol", ref.Symbol, member.CheckSymbol(ref.Symbol))
		chain, mint := f.token(at, ref.Chain, ref.Mint)
		refs = append(refs, member.TokenRef{Symbol: ref.Symbol, Mint: mint, Chain: chain})
	}
	if err := member.CheckRefs(refs); err != nil {
		f.add("token_refs", "are "+strconv.Itoa(len(refs))+"; "+err.Error())
	}
	return refs
}

// ahead is how far a clock may be ahead of ours.
const ahead = time.Minute

// updatedAt is unix microseconds.
func (f *faults) updatedAt(t *time.Time, now time.Time) int64 {
	switch {
	case t == nil:
		f.add("updated_at", "is missing; allowed is a time as in 2026-03-04T05:06:07.123456Z")
		return 0
	case t.After(now.Add(ahead)):
		f.add("updated_at", fmt.Sprintf("is %s; allowed is a time at most 60 s ahead of this server's, which is %s",
			t.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339)))
	case t.UnixMicro() <= 0:
		f.add("updated_at", "is before 1970")
	}
	return t.UnixMicro()
}

// pastTime is unix seconds.
func (f *faults) pastTime(field string, t *time.Time, now time.Time) int64 {
	switch {
	case t == nil:
		f.add(field, "is missing; allowed is a time as in 2026-03-04T05:06:07Z")
		return 0
	case t.After(now.Add(ahead)):
		f.add(field, "is "+t.UTC().Format(time.RFC3339)+"; allowed is a time that has passed")
	case t.Unix() <= 0:
		f.add(field, "is before 1970")
	}
	return t.Unix()
}

// problem is nil where nothing is wrong.
func (f *faults) problem() error {
	if f.none() {
		return nil
	}
	return invalid(f.list...)
}

// strict reads a JSON object that has the fields of v alone, spelt as they are, each once. The error is a *ProblemError.
func strict(raw []byte, v any) error {
	if !utf8.Valid(raw) {
		return invalid(FieldError{"", "is no UTF-8"})
	}
	unknown, err := kjson.UnmarshalStrict(raw, v)
	if err != nil {
		return invalid(whole(err))
	}
	if len(unknown) > 0 {
		return invalid(misspelt(unknown[0]))
	}
	if !bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) { // null
		return invalid(FieldError{"", "is no JSON object"})
	}
	return nil
}

// misspelt says that a field is unknown or there twice.
func misspelt(err error) FieldError {
	f, ok := errors.AsType[kjson.FieldError](err)
	if !ok {
		return FieldError{"", clip(err.Error(), 128)}
	}
	reason := "is no field here"
	if strings.HasPrefix(err.Error(), "duplicate") {
		reason = "is there twice"
	}
	return FieldError{clip(f.FieldPath(), 64), reason}
}

// whole says what of a body can't be read.
func whole(err error) FieldError {
	var wrongType *json.UnmarshalTypeError
	var noTime *time.ParseError
	switch {
	case errors.As(err, &wrongType) && wrongType.Field != "":
		return FieldError{wrongType.Field, fmt.Sprintf("is a JSON %s, which isn't allowed here", wrongType.Value)}
	case errors.As(err, &noTime):
		return FieldError{"", fmt.Sprintf("has the time %.40q; allowed is one as in 2026-03-04T05:06:07Z", noTime.Value)}
	default:
		return FieldError{"", "is no JSON object: " + clip(err.Error(), 128)}
	}
}

// The bodies that are answered.

type memberAnswer struct {
	ID        member.ID      `json:"id"`
	Handle    string         `json:"handle"`
	AvatarURL *string        `json:"avatar_url"`
	JoinedAt  string         `json:"joined_at"`
	UpdatedAt string         `json:"updated_at"`
	Wallets   []walletAnswer `json:"wallets"`
}

type walletAnswer struct {
	Family    string       `json:"family"`
	Address   string       `json:"address"`
	Chain     *string      `json:"chain"`
	Public    bool         `json:"public"`
	Since     string       `json:"since"`
	Attested  bool         `json:"attested"`
	Proof     *proofAnswer `json:"proof"`
	UpdatedAt string       `json:"updated_at"`
}

type proofAnswer struct {
	Text      string `json:"text"`
	Signature string `json:"signature"`
	CheckedAt string `json:"checked_at"`
}

func seconds(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }

func micros(t int64) string { return time.UnixMicro(t).UTC().Format(time.RFC3339Nano) }

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func answerMember(m *member.Member, wallets []member.Wallet) memberAnswer {
	out := memberAnswer{
		ID: m.ID, Handle: m.Handle, AvatarURL: optional(m.AvatarURL), JoinedAt: seconds(m.JoinedAt), UpdatedAt: micros(m.UpdatedAt),
		Wallets: make([]walletAnswer, len(wallets)),
	}
	for i := range wallets {
		out.Wallets[i] = answerWallet(&wallets[i])
	}
	return out
}

func answerWallet(w *member.Wallet) walletAnswer {
	out := walletAnswer{
		Family: member.FamilyName(w.Family), Address: addressText(w.Address), Chain: optional(w.Chain), Public: w.Public, Since: seconds(w.Since),
		Attested: w.Proof == nil, UpdatedAt: micros(w.UpdatedAt),
	}
	if p := w.Proof; p != nil {
		out.Proof = &proofAnswer{p.Text, p.Signature, seconds(p.CheckedAt)}
	}
	return out
}

func addressText(a market.Address) string { return a.String() }
