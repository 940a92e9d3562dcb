package member

import "crypto/sha256"

// HandleRest is for how long a handle that was given up stays reserved for who had it, in seconds.
const HandleRest = 90 * 24 * 60 * 60

// Row is what is kept of a member or a wallet, with the digest of the record that wrote it.
type Row[T any] struct {
	Value  T
	Digest [sha256.Size]byte
}

// Released is a handle that was given up.
type Released struct {
	// Number is the member who had it.
	Number Number
	// Until is when it is free, in unix seconds.
	Until int64
}

// Registry is the part of all members and wallets that some records are about, and applies them one by one. It decides; the store loads and keeps.
// A record that is refused leaves everything as it was.
type Registry struct {
	Members map[ID]*Row[Member]
	Wallets map[WalletKey]*Row[Wallet]
	// Handles are the members by the keys of their handles, those who left among them until they are erased.
	Handles map[string]ID
	// Released are the handles that were given up, by their keys.
	Released map[string]Released
	// Challenges are the texts that can be answered.
	Challenges map[string]bool
	// Contracts are the addresses of the records that are pools, curves or other contracts of exchanges and venues.
	Contracts map[WalletKey]bool
	// Last is the number of the last change.
	Last int64
	// Now is unix seconds.
	Now int64

	// What changed: members, wallets, the handles that were given up, and the challenges that were answered.

	ChangedMembers map[ID]bool
	ChangedWallets map[WalletKey]bool
	NewlyReleased  map[string]bool
	Answered       []string
	// LeftOrBack are the members who left or came back. What they have of wallets changes with them.
	LeftOrBack map[Number]bool

	// at are the wallets of an address, by their keys without a chain.
	at map[WalletKey][]WalletKey
}

// NewRegistry is an empty registry at a time, in unix seconds, and after the change with the number last.
func NewRegistry(now, last int64) *Registry {
	return &Registry{
		Members: map[ID]*Row[Member]{}, Wallets: map[WalletKey]*Row[Wallet]{}, Handles: map[string]ID{}, Released: map[string]Released{},
		Challenges: map[string]bool{}, Contracts: map[WalletKey]bool{}, Last: last, Now: now,
		ChangedMembers: map[ID]bool{}, ChangedWallets: map[WalletKey]bool{}, NewlyReleased: map[string]bool{}, LeftOrBack: map[Number]bool{},
		at: map[WalletKey][]WalletKey{},
	}
}

// AddMember takes in a member as they are kept.
func (r *Registry) AddMember(m *Row[Member]) {
	r.Members[m.Value.ID] = m
	if m.Value.Handle != "" {
		r.Handles[HandleKey(m.Value.Handle)] = m.Value.ID
	}
}

// AddWallet takes in a wallet as it is kept.
func (r *Registry) AddWallet(w *Row[Wallet]) {
	key := w.Value.Key()
	r.Wallets[key] = w
	r.at[key.anyChain()] = append(r.at[key.anyChain()], key)
}

// anyChain is the key of the account that is a wallet on all chains of the family.
func (k WalletKey) anyChain() WalletKey { return WalletKey{k.Family, k.Address, ""} }

// Apply writes a record.
func (r *Registry) Apply(rec *Record) (Outcome, error) {
	if rec.Wallet != nil {
		return r.applyWallet(rec)
	}
	return r.applyMember(rec)
}

func (r *Registry) applyMember(rec *Record) (Outcome, error) {
	row := r.Members[rec.ID]
	if row == nil && rec.Deleted {
		return "", ErrNoMember
	}
	digest := rec.Digest()
	if row != nil {
		if outcome, err := compare(rec, row.Value.UpdatedAt, digest == row.Digest); outcome != "" || err != nil {
			return outcome, err
		}
	}
	if rec.Deleted {
		r.changeMember(rec.ID)
		if row.Value.LeftAt == 0 {
			row.Value.LeftAt, r.LeftOrBack[row.Value.Number] = r.Now, true
		}
		row.Value.UpdatedAt, row.Digest = rec.UpdatedAt, digest
		return Written, nil
	}
	key := HandleKey(rec.Handle)
	if owner, taken := r.Handles[key]; taken && owner != rec.ID {
		return "", ErrHandleTaken
	}
	if was, reserved := r.Released[key]; reserved && was.Until > r.Now && (row == nil || was.Number != row.Value.Number) {
		return "", ErrHandleTaken
	}
	if row == nil {
		row = &Row[Member]{Value: Member{ID: rec.ID, Number: Number(r.Last + 1)}} // the number of the change that makes the member
		r.AddMember(row)
	} else if former := HandleKey(row.Value.Handle); former != key && row.Value.Handle != "" {
		delete(r.Handles, former)
		r.Released[former] = Released{row.Value.Number, r.Now + HandleRest}
		r.NewlyReleased[former] = true
	}
	r.changeMember(rec.ID)
	r.Handles[key] = rec.ID
	m := &row.Value
	if m.LeftAt > 0 {
		r.LeftOrBack[m.Number] = true
	}
	m.Handle, m.AvatarURL, m.JoinedAt, m.UpdatedAt, m.LeftAt = rec.Handle, rec.AvatarURL, rec.JoinedAt, rec.UpdatedAt, 0
	row.Digest = digest
	return Written, nil
}

// compare holds a record against the one that was written last; it gives neither outcome nor error for one that is newer.
func compare(rec *Record, last int64, same bool) (Outcome, error) {
	switch {
	case rec.UpdatedAt < last:
		return Older, nil
	case rec.UpdatedAt > last:
		return "", nil
	case same:
		return Unchanged, nil
	default:
		return "", ErrOtherRecord
	}
}

func (r *Registry) applyWallet(rec *Record) (Outcome, error) {
	owner := r.Members[rec.ID]
	if owner == nil || owner.Value.LeftAt > 0 {
		return "", ErrNoMember
	}
	key := rec.Wallet.Key()
	row := r.Wallets[key]
	digest := rec.Digest()
	isOwn := row != nil && row.Value.Number == owner.Value.Number
	if isOwn {
		if outcome, err := compare(rec, row.Value.UpdatedAt, digest == row.Digest); outcome != "" || err != nil {
			return outcome, err
		}
	}
	if rec.Deleted {
		if !isOwn || row.Value.RemovedAt > 0 {
			return "", ErrNoWallet
		}
		r.changeWallet(key)
		row.Value.RemovedAt, row.Value.UpdatedAt, row.Digest = r.Now, rec.UpdatedAt, digest
		return Written, nil
	}
	if err := r.mayHave(rec, owner.Value.Number); err != nil {
		return "", err
	}
	proof, err := r.proven(rec, row)
	if err != nil {
		return "", err
	}
	if row == nil {
		row = &Row[Wallet]{Value: Wallet{Family: key.Family, Address: key.Address, Chain: key.Chain}}
		r.AddWallet(row)
	}
	r.changeWallet(key)
	w := &row.Value
	if !isOwn || w.RemovedAt > 0 {
		w.Since, w.Proof = 0, nil
	}
	if proof != nil {
		w.Proof = proof
	}
	if w.Since == 0 {
		w.Since = since(rec.Wallet, proof, r.Now)
	}
	w.Since = max(w.Since, owner.Value.JoinedAt)
	w.Member, w.Number, w.Public, w.UpdatedAt, w.RemovedAt = rec.ID, owner.Value.Number, rec.Wallet.Public, rec.UpdatedAt, 0
	row.Digest = digest
	return Written, nil
}

// mayHave says why a wallet can't be a member's. An account that is one on all chains is taken by who has it on any of them, and the other way round.
func (r *Registry) mayHave(rec *Record, number Number) error {
	key := rec.Wallet.Key()
	if r.Contracts[key.anyChain()] {
		return ErrKeptByOthers
	}
	for _, other := range r.at[key.anyChain()] {
		w := &r.Wallets[other].Value
		if (other.Chain == key.Chain || other.Chain == "" || key.Chain == "") && w.Number != number && w.RemovedAt == 0 {
			return ErrWalletTaken
		}
	}
	return nil
}

// proven is the proof of a wallet: of a challenge that is answered now, or of an export. An export's that isn't of this deployment, member and
// wallet, or is from before the wallet was taken away, is none: the app attests the wallet then.
func (r *Registry) proven(rec *Record, row *Row[Wallet]) (*Proof, error) {
	p := rec.Wallet.Proof
	switch {
	case p == nil:
		return nil, nil //nolint:nilnil // attested
	case p.CheckedAt > 0:
		removed := int64(0)
		if row != nil {
			removed = row.Value.RemovedAt
		}
		if !rec.Wallet.Names || !rec.Wallet.Signed || p.CheckedAt > r.Now || p.CheckedAt <= removed {
			return nil, nil //nolint:nilnil // attested
		}
		kept := *p
		return &kept, nil
	case !rec.Wallet.Names || !r.Challenges[p.Text]:
		return nil, ErrNoChallenge
	case !rec.Wallet.Signed:
		return nil, ErrNotSigned
	}
	delete(r.Challenges, p.Text)
	r.Answered = append(r.Answered, p.Text)
	return &Proof{Text: p.Text, Signature: p.Signature, CheckedAt: r.Now}, nil
}

// since is from when on a new wallet counts: an export's own date, or that of the proof, or now.
func since(w *WalletRecord, p *Proof, now int64) int64 {
	switch {
	case w.Since > 0 && w.Since <= now:
		return w.Since
	case p != nil:
		return p.CheckedAt
	default:
		return now
	}
}

func (r *Registry) changeMember(id ID) {
	r.Last++
	r.Members[id].Value.Change = r.Last
	r.ChangedMembers[id] = true
}

func (r *Registry) changeWallet(key WalletKey) {
	r.Last++
	r.Wallets[key].Value.Change = r.Last
	r.ChangedWallets[key] = true
}
