package people

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/members/client"
)

// member is a member of the platform.
type member struct {
	// number counts from 1.
	number             int
	id, handle, avatar string
	// handles counts the handles that the member has had.
	handles int
	wallets []*wallet
	// late members aren't there from the start.
	late     bool
	joined   bool
	joinedAt time.Time
	// here reports that the member has joined and hasn't left since.
	here bool
	// leftAt is when the member left last. isLeavingKnown reports that the intake has taken it. backAt is when the member comes back; zero is never.
	leftAt, backAt time.Time
	isLeavingKnown bool
}

// wallet is a wallet of a member.
type wallet struct {
	family, address string
	public          bool
	// sign signs a challenge; a wallet without it is attested.
	sign func(ctx context.Context, text string) (signature string, err error)
}

// Every sixth member isn't there from the start, and every fourth has an avatar.
const lateOneIn, avatarOneIn = 6, 4

// newMember makes a member with the wallets of the traders at a place of both lists: of the EVM's every third one is attested, the others sign. Half of
// them are public, and a third of Solana's.
func (p *People) newMember(i int) *member {
	m := &member{number: i + 1, id: fmt.Sprintf("local:%d", i+1), handle: fmt.Sprintf("local_%d", i+1), handles: 1, late: i%lateOneIn == lateOneIn-1}
	if i%avatarOneIn == 0 {
		m.avatar = fmt.Sprintf("https://example.com/avatars/%d.png", m.number)
	}
	if i < len(p.Traders) {
		w := &wallet{family: "evm", address: p.Traders[i], public: i%2 == 0}
		if i%3 != 2 {
			w.sign = func(ctx context.Context, text string) (signature string, err error) {
				err = p.Chains[0].Node.Call(ctx, &signature, "personal_sign", anvil.ToHex([]byte(text)), w.address)
				return signature, err
			}
		}
		m.wallets = append(m.wallets, w)
	}
	if i < len(p.Solana) {
		signer := p.Solana[i]
		m.wallets = append(m.wallets, &wallet{family: "solana", address: signer.Key.String(), public: i%3 == 0, sign: func(_ context.Context, text string) (string, error) {
			return signer.Sign(text), nil
		}})
	}
	return m
}

// addressOf is the member's wallet of a family; empty where there is none.
func (m *member) addressOf(family string) string {
	for _, w := range m.wallets {
		if w.family == family {
			return w.address
		}
	}
	return ""
}

// join writes a member and their wallets. A join that was broken off is begun anew.
func (p *People) join(ctx context.Context, m *member) error {
	if m.joinedAt.IsZero() {
		m.joinedAt = p.now()
	}
	if err := p.putMember(ctx, m); err != nil {
		return fmt.Errorf("member %s joins: %w", m.id, err)
	}
	for _, w := range m.wallets {
		if err := p.joinWallet(ctx, m, w); err != nil {
			return fmt.Errorf("member %s joins with %s: %w", m.id, w.address, err)
		}
	}
	m.joined, m.here = true, true
	return nil
}

// mostHandles is after how many handles a member gives up.
const mostHandles = 1000

// putMember writes a member as they are now. Where a handle is reserved for nobody, as one of a member who was erased, the member takes the next one.
func (p *People) putMember(ctx context.Context, m *member) error {
	for {
		body := map[string]any{"handle": m.handle, "joined_at": stamp(m.joinedAt), "updated_at": stamp(p.now())}
		if m.avatar != "" {
			body["avatar_url"] = m.avatar
		}
		err := p.Intake.Do(ctx, http.MethodPut, "/v1/members/"+m.id, body, nil)
		if refused, ok := errors.AsType[*client.RefusedError](err); !ok || refused.Type != "handle-taken" || m.handles == mostHandles {
			return err
		}
		m.nextHandle()
	}
}

// nextHandle gives a member a handle that nobody has had.
func (m *member) nextHandle() {
	m.handles++
	m.handle = fmt.Sprintf("local_%d_%d", m.number, m.handles)
}

// joinWallet writes a wallet for the first time, with a challenge that it has signed.
func (p *People) joinWallet(ctx context.Context, m *member, w *wallet) error {
	if w.sign == nil {
		return p.attestWallet(ctx, m, w)
	}
	var challenge struct{ Text string }
	err := p.Intake.Do(ctx, http.MethodPost, "/v1/wallet-challenges", map[string]string{"member": m.id, "family": w.family, "address": w.address}, &challenge)
	if err != nil {
		return err
	}
	signature, err := w.sign(ctx, challenge.Text)
	if err != nil {
		return err
	}
	return p.putWallet(ctx, m, w, map[string]any{"proof": map[string]string{"text": challenge.Text, "signature": signature}})
}

// attestWallet writes a wallet without a signature. A wallet that was proved before stays proved.
func (p *People) attestWallet(ctx context.Context, m *member, w *wallet) error {
	return p.putWallet(ctx, m, w, map[string]any{"attested": true})
}

func (p *People) putWallet(ctx context.Context, m *member, w *wallet, body map[string]any) error {
	body["public"], body["updated_at"] = w.public, stamp(p.now())
	return p.Intake.Do(ctx, http.MethodPut, "/v1/members/"+m.id+"/wallets/"+w.family+":"+w.address, body, nil)
}
