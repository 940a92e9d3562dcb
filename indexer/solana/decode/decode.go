// Package decode turns Solana's blocks into events, as values of internal/market: one file for each program of exchanges and of launch venues. What a block
// does to balances it takes from the balances that a node tells of each transaction, whatever moved them.
package decode

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/borsh"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/programlog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Decoder turns transactions into events. Whatever means nothing here gives none; no transaction makes it fail. Several goroutines may use it.
type Decoder struct {
	// byText are the programs whose instructions mean something by the base58 of their keys, byKey by the keys themselves.
	byText, byKey programs
	// venues are the declared launch venues of a protocol, by the accounts that make a launch theirs.
	venues map[chainconfig.VenueProtocol]map[market.Address]string
	// recipients are the accounts that the platform's fee goes to.
	recipients []recipient
	// scratch are readers that are not in use.
	scratch sync.Pool
}

// programs are some by a form of their keys.
type programs struct {
	programs map[string]*program
	// begins are the first bytes of those forms.
	begins [256]bool
}

func (p *programs) add(key string, of *program) {
	if p.programs == nil {
		p.programs = map[string]*program{}
	}
	p.programs[key], p.begins[key[0]] = of, true
}

// program is what is known of a program.
type program struct {
	key market.Address
	// events are those that the program tells by calling itself, by their discriminators.
	events map[discriminator]func(*call)
	// runs are instructions that tell what they do by themselves, and are no calls of the program by itself; it may be nil.
	runs func(*call)
}

// discriminator is what the data of Anchor's instructions and events begin with: the first 8 bytes of the SHA-256 of "global:" or "event:" and the name.
// Programs share them, so that one means nothing without its program.
type discriminator [8]byte

// eventNamed and instructionNamed are the discriminators of a name.
func eventNamed(name string) discriminator { return hashed("event:" + name) }

func instructionNamed(name string) discriminator { return hashed("global:" + name) }

func hashed(text string) discriminator {
	sum := sha256.Sum256([]byte(text))
	return discriminator(sum[:])
}

// selfCall is what the data of an instruction begins with by which a program calls itself to tell an event (Anchor's emit_cpi). The program itself lets
// nobody else call it so.
var selfCall = discriminator{0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d}

// exchanges are the protocols of exchanges.
var exchanges = map[market.Protocol]func(d *Decoder, p *program){
	market.PumpSwap:      (*Decoder).pumpSwap,
	market.RaydiumAMMv4:  (*Decoder).raydiumAMMv4,
	market.RaydiumCPMM:   (*Decoder).raydiumCPMM,
	market.MeteoraDAMMv2: (*Decoder).meteoraDAMMv2,
}

// venues are the protocols of launch venues, with the programs that speak them.
var venues = map[chainconfig.VenueProtocol]struct {
	program string
	bind    func(d *Decoder, p *program)
}{
	chainconfig.PumpFun:          {PumpFun, (*Decoder).pumpFun},
	chainconfig.RaydiumLaunchLab: {LaunchLab, (*Decoder).launchLab},
	chainconfig.MeteoraDBC:       {MeteoraDBC, (*Decoder).meteoraDBC},
}

// New binds the programs that the chain document declares.
func New(c *chainconfig.Chain) (*Decoder, error) {
	d := &Decoder{venues: map[chainconfig.VenueProtocol]map[market.Address]string{}}
	for _, x := range c.Exchanges {
		bind, ok := exchanges[x.Protocol]
		if !ok {
			return nil, fmt.Errorf("chain %s: exchange %s: no program of Solana speaks protocol %q", c.ID, x.Name, x.Protocol)
		}
		if x.Factory.Kind() != market.SolanaKey {
			return nil, fmt.Errorf("chain %s: exchange %s: factory %q is no program of Solana", c.ID, x.Name, x.Factory)
		}
		bind(d, d.program(x.Factory.String()))
	}
	for _, v := range c.Venues {
		protocol, ok := venues[v.Protocol]
		if !ok {
			return nil, fmt.Errorf("chain %s: venue %s: no program of Solana speaks protocol %q", c.ID, v.ID, v.Protocol)
		}
		accounts := d.venues[v.Protocol]
		if accounts == nil {
			accounts = map[market.Address]string{}
			d.venues[v.Protocol] = accounts
			protocol.bind(d, d.program(protocol.program))
		}
		for _, a := range v.Contracts {
			if _, taken := accounts[a]; !taken { // of two venues that declare the same account the first counts
				accounts[a] = v.ID
			}
		}
	}
	d.recipientsOf(c)
	d.scratch.New = func() any { return &reader{d: d} }
	return d, nil
}

// program is a program by the text of its key, which is one.
func (d *Decoder) program(name string) *program {
	p := d.byText.programs[name]
	if p == nil {
		key, _ := market.ParseSolanaAddress(name) // New has read it, or a test has
		p = &program{key: key, events: map[discriminator]func(*call){}}
		d.byText.add(name, p)
		raw := key.Bytes()
		d.byKey.add(string(raw[len(raw)-32:]), p)
	}
	return p
}

// venueOf is the venue that a launch is of by the accounts that it refers to, the most telling first; "" where it is none's.
func (d *Decoder) venueOf(p chainconfig.VenueProtocol, accounts ...market.Address) string {
	for _, a := range accounts {
		if id, ok := d.venues[p][a]; ok {
			return id
		}
	}
	return ""
}

// idsOf are the declared venues of a protocol.
func (d *Decoder) idsOf(p chainconfig.VenueProtocol) []string {
	return slices.Compact(slices.Sorted(maps.Values(d.venues[p])))
}

// call is an instruction of a known program, or an event that one tells, as it is decoded.
type call struct {
	r *reader
	p *program
	// at is the instruction, index its place among the transaction's; by is the one that tells the event, and nil where it is none.
	index  int
	at, by *instruction
	borsh.Reader
}

// account is one of the accounts of the instruction that is decoded, or that tells the event; none where it has fewer.
func (c *call) account(i int) market.Address {
	if accounts := c.r.tx.accountsOf(c.teller()); i < len(accounts) {
		return c.r.account(accounts[i])
	}
	return market.Address{}
}

// teller is the instruction that is decoded, or that tells the event.
func (c *call) teller() *instruction {
	if c.by != nil {
		return c.by
	}
	return c.at
}

// mostSiblings is the greatest number of calls of an instruction among which another event of it is looked for.
const mostSiblings = 32

// tellsAsWell reports whether the instruction that tells the event tells one of other kinds, too. An event of an instruction with more calls than are looked at counts as
// told twice.
func (c *call) tellsAsWell(kinds ...discriminator) bool {
	tx, by := &c.r.tx, c.index
	for &tx.instructions[by] != c.by {
		by--
	}
	list, _ := tx.callsOf(by)
	return len(list) > mostSiblings || slices.ContainsFunc(list, func(in instruction) bool {
		if in.program != c.at.program || in.height != c.at.height {
			return false
		}
		data, ok := tx.appendData(nil, &in)
		told, isEvent := bytes.CutPrefix(data, selfCall[:])
		return ok && isEvent && len(told) >= len(discriminator{}) && slices.Contains(kinds, discriminator(told))
	})
}

// balanceAfter is what the account has after the transaction that is the i-th of the instruction; ok is false where it is no token account.
func (c *call) balanceAfter(i int) (a market.Amount, ok bool) {
	accounts := c.r.tx.accountsOf(c.teller())
	if i >= len(accounts) {
		return a, false
	}
	for k := range c.r.tx.post {
		if b := &c.r.tx.post[k]; b.account == accounts[i] {
			return amountOf(b.amount), true
		}
	}
	return a, false
}

// emit adds an event, unless what was read for it isn't there.
func (c *call) emit(e market.Event) {
	if !c.Bad {
		c.r.emit(c.at, e)
	}
}

// linesOf are the contents of the lines that this call of its program logged itself and that begin with a prefix, such as "data: ".
func (c *call) linesOf(prefix []byte) [][]byte {
	nth := 0 // calls are logged in the order in which they ran
	for i := range c.r.tx.instructions[:c.index] {
		if c.r.tx.instructions[i].program == c.at.program {
			nth++
		}
	}
	return programlog.Lines(c.r.tx.lines(), c.r.tx.name(c.at.program), nth, prefix)
}

// textOf reads a token's name or symbol, referenceOf where its description is.
func textOf(r *borsh.Reader) string      { return chain.CleanText(string(r.Bytes())) }
func referenceOf(r *borsh.Reader) string { return chain.CleanReference(r.Bytes()) }
