package evm

import (
	"bytes"

	"golang.org/x/crypto/sha3"

	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/trust/evm/probe"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Opcodes that the walk over runtime code knows.
const (
	opPush1        = 0x60
	opPush4        = 0x63
	opPush20       = 0x73
	opPush32       = 0x7f
	opDelegateCall = 0xf4
)

// runtime is a contract's code, read opcode by opcode.
type runtime struct {
	selectors map[[4]byte]bool
	// delegates says that it calls other code in its own name.
	delegates bool
	// shape is the hash of the code without its constants of 20 bytes and more and without the compiler's metadata: contracts
	// of one source differ in addresses and numbers that their constructors wrote into the code, and in nothing else.
	shape [32]byte
}

// readRuntime walks the code. What follows it as data may look like code: then too much is found, never too little.
func readRuntime(code []byte) runtime {
	r := runtime{selectors: map[[4]byte]bool{}}
	code = withoutMetadata(code)
	k := sha3.NewLegacyKeccak256()
	for i := 0; i < len(code); i++ {
		op := code[i]
		_, _ = k.Write([]byte{op})
		if op == opDelegateCall {
			r.delegates = true
		}
		if op < opPush1 || op > opPush32 {
			continue
		}
		n := min(int(op-opPush1)+1, len(code)-i-1)
		operand := code[i+1 : i+1+n]
		if op == opPush4 && n == 4 {
			r.selectors[[4]byte(operand)] = true
		}
		if op < opPush20 {
			_, _ = k.Write(operand)
		}
		i += n
	}
	k.Sum(r.shape[:0])
	return r
}

// withoutMetadata takes off what the Solidity compiler appends: CBOR whose last two bytes are its length.
func withoutMetadata(code []byte) []byte {
	if len(code) < 2 {
		return code
	}
	n := int(code[len(code)-2])<<8 | int(code[len(code)-1])
	at := len(code) - 2 - n
	if n == 0 || at < 0 || code[at]>>4 != 0xa { // a CBOR map of few entries
		return code
	}
	return code[:at]
}

// delegatedAccount is the contract that an EIP-7702 account stands for.
func delegatedAccount(code []byte) (market.Address, bool) {
	if len(code) != 23 || !bytes.HasPrefix(code, []byte{0xef, 0x01, 0x00}) {
		return market.Address{}, false
	}
	a, err := market.AddressFromBytes(code[3:])
	return a, err == nil
}

// clonedContract is the contract that an EIP-1167 proxy stands for; it can't be changed.
func clonedContract(code []byte) (market.Address, bool) {
	const start = 10
	if len(code) < start+market.EVMAddressLen {
		return market.Address{}, false
	}
	a, err := market.AddressFromBytes(code[start : start+market.EVMAddressLen])
	if err != nil || !bytes.Equal(code, probe.Delegate(a)) {
		return market.Address{}, false
	}
	return a, true
}

// slotBefore is the storage slot that ERC-1967 gives a name: its hash less one.
func slotBefore(name string) [32]byte {
	var v market.Amount
	h := hash.Keccak256([]byte(name))
	v.SetBytes32(h[:])
	v.SubUint64(&v, 1)
	return v.Bytes32()
}

// The slots in which proxies keep what they stand for and who may change it (ERC-1967, ERC-1822).
var (
	slotImplementation = slotBefore("eip1967.proxy.implementation")
	slotBeacon         = slotBefore("eip1967.proxy.beacon")
	slotAdmin          = slotBefore("eip1967.proxy.admin")
	slotProxiable      = hash.Keccak256([]byte("PROXIABLE"))
)

// argument is what a function of an owner takes.
type argument uint8

const (
	argNothing argument = iota
	argTrue
	argFalse
	argAccount
	argAccountTrue
	argAccounts
	argAccountsTrue
	argAccountAmount
	argAmount
)

// function is one that owners of tokens are known to have.
type function struct {
	signature string
	takes     argument
}

// pausing, blocking and minting are names that are found in tokens on chain. A token may call it anything: what isn't found
// here is told by the sale alone.
var (
	pausing = []function{
		{"pause()", argNothing},
		{"pause(bool)", argTrue},
		{"setPaused(bool)", argTrue},
		{"setPause(bool)", argTrue},
		{"pauseTrading()", argNothing},
		{"stopTrading()", argNothing},
		{"disableTrading()", argNothing},
		{"closeTrading()", argNothing},
		{"setTradingEnabled(bool)", argFalse},
		{"setTrading(bool)", argFalse},
		{"enableTrading(bool)", argFalse},
		{"setTradingStatus(bool)", argFalse},
		{"setTradingOpen(bool)", argFalse},
		{"setTransferEnabled(bool)", argFalse},
		{"freeze()", argNothing},
		{"halt()", argNothing},
	}
	blocking = []function{
		{"blacklist(address)", argAccount},
		{"blacklist(address,bool)", argAccountTrue},
		{"addToBlacklist(address)", argAccount},
		{"addBlacklist(address)", argAccount},
		{"addBlackList(address)", argAccount},
		{"blacklistAddress(address)", argAccount},
		{"blacklistAddress(address,bool)", argAccountTrue},
		{"blacklistAccount(address)", argAccount},
		{"blacklistAccount(address,bool)", argAccountTrue},
		{"setBlacklist(address,bool)", argAccountTrue},
		{"setBlackList(address,bool)", argAccountTrue},
		{"setBlacklisted(address,bool)", argAccountTrue},
		{"setIsBlacklisted(address,bool)", argAccountTrue},
		{"setBlacklistStatus(address,bool)", argAccountTrue},
		{"updateBlacklist(address,bool)", argAccountTrue},
		{"blacklist(address[])", argAccounts},
		{"addBlacklist(address[])", argAccounts},
		{"setBlacklist(address[],bool)", argAccountsTrue},
		{"blacklistMany(address[],bool)", argAccountsTrue},
		{"addBot(address)", argAccount},
		{"setBot(address,bool)", argAccountTrue},
		{"addBots(address[])", argAccounts},
		{"setBots(address[])", argAccounts},
		{"blockBots(address[])", argAccounts},
		{"setBots(address[],bool)", argAccountsTrue},
		{"freeze(address)", argAccount},
		{"freezeAccount(address)", argAccount},
		{"freezeAccount(address,bool)", argAccountTrue},
		{"setFrozen(address,bool)", argAccountTrue},
		{"blockAccount(address)", argAccount},
		{"ban(address)", argAccount},
		{"denylist(address)", argAccount},
		{"addToDenylist(address)", argAccount},
	}
	minting = []function{
		{"mint(address,uint256)", argAccountAmount},
		{"mintTo(address,uint256)", argAccountAmount},
		{"mint(uint256)", argAmount},
		{"issue(uint256)", argAmount},
		{"mintTokens(address,uint256)", argAccountAmount},
		{"increaseSupply(uint256)", argAmount},
		{"_mint(address,uint256)", argAccountAmount},
		{"devMint(address,uint256)", argAccountAmount},
	}
)

// in gives those functions of the list whose selectors the code has.
func (r *runtime) in(list []function) (found []function) {
	for _, f := range list {
		if r.selectors[[4]byte(hash.Selector(f.signature))] {
			found = append(found, f)
		}
	}
	return found
}

// order encodes the call of the function upon an account.
func (f function) order(account market.Address, amount *market.Amount) []byte {
	out := hash.Selector(f.signature)
	whole := amount.Bytes32()
	switch f.takes {
	case argNothing:
	case argTrue:
		out = append(out, probe.Uint(1)...)
	case argFalse:
		out = append(out, probe.Uint(0)...)
	case argAccount:
		out = append(out, probe.Address(account)...)
	case argAccountTrue:
		out = append(append(out, probe.Address(account)...), probe.Uint(1)...)
	case argAccounts:
		out = append(append(append(out, probe.Uint(32)...), probe.Uint(1)...), probe.Address(account)...)
	case argAccountsTrue:
		out = append(append(out, probe.Uint(64)...), probe.Uint(1)...)
		out = append(append(out, probe.Uint(1)...), probe.Address(account)...)
	case argAccountAmount:
		out = append(append(out, probe.Address(account)...), whole[:]...)
	case argAmount:
		out = append(out, whole[:]...)
	}
	return out
}
