package member

// HandleRest is for how long a handle that was given up stays reserved for who had it, in seconds.
const HandleRest = 90 * 24 * 60 * 60

// Released is a handle that was given up.
type Released struct {
	// Number is the member who had it.
	Number Number
	// Until is when it is free, in unix seconds.
	Until int64
}

// Registry is the part of all members, wallets, calls and posts that some records are about, and applies them one by one. It decides; the store loads and keeps.
// A record that is refused leaves everything as it was.
type Registry struct {
	Members map[ID]*Member
	Wallets map[WalletKey]*Wallet
	// Handles are the members by the keys of their handles, those who left among them until they are erased.
	Handles map[string]ID
	// Released are the handles that were given up, by their keys.
	Released map[string]Released
	// Challenges are the texts that can be answered.
	Challenges map[string]bool
	// Contracts are the addresses of the records that are pools, curves or other contracts of exchanges and venues.
	Contracts map[WalletKey]bool
	// Calls are the calls that the records are about. The open calls of the records' members, and those of the last day, are there too.
	Calls map[CallID]*Call
	// Posts are the posts that the records are about.
	Posts map[PostID]*Post
	Last  Changes
	// Now is unix seconds.
	Now int64

	// What changed: members, wallets, the handles that were given up, and the challenges that were answered.

	ChangedMembers map[ID]bool
	ChangedWallets map[WalletKey]bool
	ChangedCalls   map[CallID]bool
	// NewCalls are the calls that weren't there before.
	NewCalls      map[CallID]bool
	ChangedPosts  map[PostID]bool
	NewlyReleased map[string]bool
	Answered      []string
	// WithWallets are the members whose wallets change with them: who left, came back, or joined at another time.
	WithWallets map[Number]bool

	// at are the wallets of an address, by their keys without a chain.
	at      map[WalletKey][]WalletKey
	callsOf map[Number][]*Call
}

// Changes are the numbers of the last changes: of members and wallets together, of calls, and of posts.
type Changes struct{ Members, Calls, Posts int64 }

// NewRegistry is an empty registry at a time, in unix seconds, and after some changes.
func NewRegistry(now int64, last Changes) *Registry {
	return &Registry{
		Members: map[ID]*Member{}, Wallets: map[WalletKey]*Wallet{}, Handles: map[string]ID{}, Released: map[string]Released{},
		Challenges: map[string]bool{}, Contracts: map[WalletKey]bool{}, Calls: map[CallID]*Call{}, Posts: map[PostID]*Post{}, Last: last, Now: now,
		ChangedMembers: map[ID]bool{}, ChangedWallets: map[WalletKey]bool{}, NewlyReleased: map[string]bool{}, WithWallets: map[Number]bool{},
		ChangedCalls: map[CallID]bool{}, NewCalls: map[CallID]bool{}, ChangedPosts: map[PostID]bool{}, at: map[WalletKey][]WalletKey{}, callsOf: map[Number][]*Call{},
	}
}

// AddMember takes in a member as they are kept.
func (r *Registry) AddMember(m *Member) {
	r.Members[m.ID] = m
	if m.Handle != "" {
		r.Handles[HandleKey(m.Handle)] = m.ID
	}
}

// AddWallet takes in a wallet as it is kept.
func (r *Registry) AddWallet(w *Wallet) {
	key := w.Key()
	r.Wallets[key] = w
	r.at[key.anyChain()] = append(r.at[key.anyChain()], key)
}

// anyChain is the key of the account that is a wallet on all chains of the family.
func (k WalletKey) anyChain() WalletKey { return WalletKey{k.Family, k.Address, ""} }

// Apply writes a record.
func (r *Registry) Apply(rec *Record) (Outcome, error) {
	switch {
	case rec.Wallet != nil:
		return r.applyWallet(rec)
	case rec.Call != nil:
		return r.applyCall(rec)
	case rec.Post != nil:
		return r.applyPost(rec)
	default:
		return r.applyMember(rec)
	}
}

func (r *Registry) applyMember(rec *Record) (Outcome, error) {
	m := r.Members[rec.ID]
	if m == nil && rec.Deleted {
		return "", ErrNoMember
	}
	if m != nil {
		if outcome, err := compare(rec.UpdatedAt, m.UpdatedAt, rec.saysOf(m)); outcome != "" || err != nil {
			return outcome, err
		}
	}
	if rec.Deleted {
		r.changeMember(m)
		m.UpdatedAt, m.WalletsAfter = rec.UpdatedAt, rec.UpdatedAt
		if m.LeftAt == 0 {
			m.LeftAt, r.WithWallets[m.Number] = r.Now, true
		}
		return Written, nil
	}
	key := HandleKey(rec.Handle)
	if owner, taken := r.Handles[key]; taken && owner != rec.ID {
		return "", ErrHandleTaken
	}
	if was, reserved := r.Released[key]; reserved && was.Until > r.Now && (m == nil || was.Number != m.Number) {
		return "", ErrHandleTaken
	}
	if m == nil {
		m = &Member{ID: rec.ID, Number: Number(r.Last.Members + 1), JoinedAt: rec.JoinedAt} // the number of the change that makes the member
		r.AddMember(m)
	} else if former := HandleKey(m.Handle); former != key && m.Handle != "" {
		delete(r.Handles, former)
		r.Released[former] = Released{m.Number, r.Now + HandleRest}
		r.NewlyReleased[former] = true
	}
	r.changeMember(m)
	r.Handles[key] = rec.ID
	if m.LeftAt > 0 || m.JoinedAt != rec.JoinedAt {
		r.WithWallets[m.Number] = true
	}
	m.Handle, m.AvatarURL, m.JoinedAt, m.UpdatedAt, m.LeftAt = rec.Handle, rec.AvatarURL, rec.JoinedAt, rec.UpdatedAt, 0
	return Written, nil
}

// compare compares a record's time with the time of the last record; it gives neither outcome nor error for a newer record. same reports whether the record
// says what is there.
func compare(at, last int64, same bool) (Outcome, error) {
	switch {
	case at < last:
		return Older, nil
	case at > last:
		return "", nil
	case same:
		return Unchanged, nil
	default:
		return "", ErrOtherRecord
	}
}

func (r *Registry) applyWallet(rec *Record) (Outcome, error) {
	key := rec.Wallet.Key()
	owner, w := r.Members[rec.ID], r.Wallets[key]
	if owner == nil {
		return "", ErrNoMember
	}
	if w != nil {
		if outcome, err := compare(rec.UpdatedAt, w.UpdatedAt, rec.saysOfWallet(w)); outcome != "" || err != nil {
			return outcome, err
		}
	}
	if rec.UpdatedAt <= owner.WalletsAfter {
		return Older, nil
	}
	if owner.LeftAt > 0 {
		return "", ErrNoMember
	}
	isOwn := w != nil && w.Number == owner.Number
	if rec.Deleted {
		if !isOwn {
			return "", ErrNoWallet
		}
		r.changeWallet(w)
		if w.UpdatedAt = rec.UpdatedAt; w.RemovedAt == 0 {
			w.RemovedAt, w.TakenAwayAt = r.Now, r.Now
		}
		return Written, nil
	}
	if err := r.mayHave(rec, owner.Number); err != nil {
		return "", err
	}
	proof, err := r.proven(rec, w)
	if err != nil {
		return "", err
	}
	if w == nil {
		w = &Wallet{Family: key.Family, Address: key.Address, Chain: key.Chain}
		r.AddWallet(w)
	}
	r.changeWallet(w)
	if !isOwn || w.RemovedAt > 0 {
		w.Since, w.Proof = 0, nil
	}
	if proof != nil {
		w.Proof = proof
	}
	if w.Since == 0 {
		w.Since = since(rec.Wallet, proof, r.Now)
	}
	w.Since = max(w.Since, owner.JoinedAt)
	w.Member, w.Number, w.Public, w.UpdatedAt, w.RemovedAt = rec.ID, owner.Number, rec.Wallet.Public, rec.UpdatedAt, 0
	return Written, nil
}

// mayHave says why a wallet can't be a member's. An account that is one on all chains is taken by who has it on any of them, and the other way round.
func (r *Registry) mayHave(rec *Record, number Number) error {
	key := rec.Wallet.Key()
	if r.Contracts[key.anyChain()] {
		return ErrKeptByOthers
	}
	for _, other := range r.at[key.anyChain()] {
		w := r.Wallets[other]
		if (other.Chain == key.Chain || other.Chain == "" || key.Chain == "") && w.Number != number && w.RemovedAt == 0 {
			return ErrWalletTaken
		}
	}
	return nil
}

// proven is the proof of a wallet: of a challenge that is answered now, or of an export. An export's that isn't of this deployment, member and
// wallet, or is from before the wallet was taken away, is none: the app attests the wallet then.
func (r *Registry) proven(rec *Record, w *Wallet) (*Proof, error) {
	p := rec.Wallet.Proof
	switch {
	case p == nil:
		return nil, nil //nolint:nilnil // attested
	case p.CheckedAt > 0:
		if !rec.Wallet.provedAt(p.CheckedAt) || p.CheckedAt > r.Now || w != nil && rec.Wallet.IssuedAt <= w.TakenAwayAt {
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

func (r *Registry) changeMember(m *Member) {
	r.Last.Members++
	m.Change = r.Last.Members
	r.ChangedMembers[m.ID] = true
}

func (r *Registry) changeWallet(w *Wallet) {
	r.Last.Members++
	w.Change = r.Last.Members
	r.ChangedWallets[w.Key()] = true
}
