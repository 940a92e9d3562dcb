package simnet

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
)

// DeployOptions say what to deploy.
type DeployOptions struct {
	// Seed picks names, prices and depths. The same seed on a node with the same timestamp gives the
	// same blocks.
	Seed uint64
	// Native defaults to BNB on chain 56 and to ETH elsewhere.
	Native Native
	// Classic deploys Uniswap V2 and V3 alone: no V4, PancakeSwap, aggregator or smart accounts.
	Classic bool
	// Venues are the launch venues to deploy, and with them the wallets that trade on launches. A classic
	// world can have none.
	Venues []VenueProtocol
	// Places are addresses of a mainnet's, to put contracts at; nil is none.
	Places *Places
}

const (
	deployGas = 12_000_000
	// deadline is far beyond any block time.
	deadline = 1 << 40
	// traderWrapped is how much wrapped native each trader starts with.
	traderWrapped = 20_000
)

var maxUint256 = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))

// Deploy puts the exchanges, the tokens, their liquidity and the traders' funds on a fresh chain, in
// a handful of blocks one second apart.
func Deploy(ctx context.Context, node *anvil.Node, options DeployOptions) (*World, error) {
	if options.Native == (Native{}) {
		options.Native = Native{"ETH", "Wrapped Ether", "WETH", 3000}
		if node.ChainID() == 56 {
			options.Native = Native{"BNB", "Wrapped BNB", "WBNB", 600}
		}
	}
	if options.Places == nil {
		options.Places = &Places{}
	}
	d := &deployment{World: &World{Node: node, ChainID: node.ChainID(), Native: options.Native}, places: options.Places}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"accounts", d.accounts},
		{"exchanges", func(ctx context.Context) error { return d.exchanges(ctx, options.Classic) }},
		{"tokens", func(ctx context.Context) error { return d.tokens(ctx, options.Seed) }},
		{"funds", d.funds},
		{"pools", func(ctx context.Context) error { return d.openPools(ctx, options.Seed) }},
		{"venues", func(ctx context.Context) error { return d.openVenues(ctx, options) }},
	} {
		if err := step.run(ctx); err != nil {
			return nil, fmt.Errorf("simnet: deploy %s: %w", step.name, err)
		}
	}
	return d.World, nil
}

// deployment collects the deployer's transactions, whose nonces give the addresses of new contracts
// before they are mined.
type deployment struct {
	*World
	places  *Places
	plans   []tokenPlan // of Tokens, by index
	pending []anvil.Transaction
	nonce   uint64
	failed  error // the first of createAt
}

func (d *deployment) accounts(ctx context.Context) error {
	var accounts []string
	if err := d.Node.Call(ctx, &accounts, "eth_accounts"); err != nil {
		return err
	}
	if len(accounts) < anvil.AccountCount {
		return fmt.Errorf("%d accounts, %d are needed", len(accounts), anvil.AccountCount)
	}
	for i, account := range accounts {
		accounts[i] = anvil.ToHex(anvil.FromHex(account)) // lower case
	}
	d.Accounts, d.Deployer = accounts, accounts[0]
	d.Traders = accounts[1 : len(accounts)-spareCount]
	d.Spare = accounts[len(accounts)-spareCount:]
	nonces, err := d.Node.Nonces(ctx, []anvil.Transaction{{From: d.Deployer}})
	d.nonce = nonces[d.Deployer]
	return err
}

// creation is the code that creates a contract.
func (d *deployment) creation(contract, constructor string, args ...any) []byte {
	code, found := d.Node.Tools.Code[contract]
	if !found {
		panic("simnet: no code for " + contract)
	}
	data := bytes.Clone(code)
	if constructor != "" {
		data = append(data, anvil.EncodeArgs(constructor, args...)...)
	}
	return data
}

// create adds the creation of a contract and returns its address.
func (d *deployment) create(contract, constructor string, args ...any) string {
	address := anvil.CreateAddress(d.Deployer, d.nonce)
	d.add(anvil.Transaction{Data: d.creation(contract, constructor, args...)})
	return address
}

// call adds the deployer's call of a contract.
func (d *deployment) call(to, signature string, args ...any) {
	d.add(anvil.Transaction{To: to, Data: anvil.EncodeCall(signature, args...)})
}

func (d *deployment) add(tx anvil.Transaction) {
	tx.From, tx.Gas = d.Deployer, deployGas
	d.pending = append(d.pending, tx)
	d.nonce++
}

// flush mines what was collected.
func (d *deployment) flush(ctx context.Context) error {
	if d.failed != nil {
		return d.failed
	}
	pending := d.pending
	d.pending = nil
	if len(pending) == 0 {
		return nil
	}
	return d.Node.Settle(ctx, pending)
}

func (d *deployment) exchanges(ctx context.Context, classic bool) error {
	d.Wrapped = d.createAt(ctx, d.places.Wrapped, "WETH9", "")
	d.UniswapV2Factory = d.createAt(ctx, d.places.UniswapV2Factory, "UniswapV2Factory", "(address)", d.Deployer)
	d.UniswapV3Factory = d.createAt(ctx, d.places.UniswapV3Factory, "UniswapV3Factory", "")
	d.Routers.UniswapV2 = d.create("UniswapV2Router02", "(address,address)", d.UniswapV2Factory, d.Wrapped)
	d.Routers.UniswapV3 = d.create("SwapRouter", "(address,address)", d.UniswapV3Factory, d.Wrapped)
	// The descriptor draws the picture of a position and is not needed.
	d.Routers.V3Positions = d.create("NonfungiblePositionManager", "(address,address,address)",
		d.UniswapV3Factory, d.Wrapped, anvil.ZeroAddress)
	d.call(d.UniswapV3Factory, "enableFeeAmount(uint24,int24)", 100, 1)
	d.placedExchanges(ctx) // before the smart accounts, which let all routers take their wrapped coin
	if !classic {
		d.uniswapV4(ctx)
		d.pancakeSwapV3(ctx)
		d.intermediaries()
	}
	if err := d.flush(ctx); err != nil {
		return err
	}
	if d.Native.WrappedSymbol == "WETH" {
		return nil
	}
	// Other chains' wrapped assets are copies of WETH9 with their own name, its first two storage slots.
	for slot, text := range []string{d.Native.WrappedName, d.Native.WrappedSymbol} {
		if err := d.Node.Call(ctx, nil, "anvil_setStorageAt", d.Wrapped, anvil.HexOf(uint64(slot)), anvil.ToHex(shortString(text))); err != nil {
			return err
		}
	}
	return nil
}

// shortString is how Solidity stores a string of less than 32 bytes in one slot.
func shortString(text string) []byte {
	slot := make([]byte, 32)
	copy(slot, text)
	slot[31] = byte(2 * len(text))
	return slot
}

// operators may move the tokens of simnet's own contracts without allowance.
func (d *deployment) operators() []string {
	all := []string{
		d.Routers.UniswapV2, d.Routers.UniswapV3, d.Routers.V3Positions,
		d.Routers.UniswapV4, d.Routers.PancakeSwapV3, d.Routers.PancakeSwapV2, d.Routers.Solidly, d.Routers.Aggregator,
		d.pump,
	}
	for _, exchange := range d.Slipstream {
		all = append(all, exchange.Router)
	}
	for _, exchange := range d.MoreUniswapV3 {
		all = append(all, exchange.Router, exchange.Positions)
	}
	return slices.DeleteFunc(all, func(address string) bool { return address == "" })
}

func (d *deployment) tokens(ctx context.Context, seed uint64) error {
	wrapped := Token{
		Address: d.Wrapped, Name: d.Native.WrappedName, Symbol: d.Native.WrappedSymbol, Decimals: 18,
		Behaviour: Wrapped, USD: d.Native.USD,
	}
	d.Tokens, d.plans = []Token{wrapped}, []tokenPlan{{Token: wrapped}}
	for _, plan := range d.places.stables(planTokens(seed)) {
		each, holders := plan.supply*holderShare, slices.Concat(d.Traders, d.SmartAccounts)
		if plan.Behaviour == Stable {
			each, holders = traderDollars, append(holders, d.Spare...)
		}
		rest := plan.supply - each*float64(len(holders))
		plan.Address = d.createAt(ctx, plan.Address, plan.contract,
			"((string,string,uint8,uint256,address[],uint256,address[]))",
			anvil.Tuple{
				plan.Name, plan.Symbol, plan.Decimals, units(rest, plan.Decimals),
				holders, units(each, plan.Decimals), d.operators(),
			})
		d.Tokens, d.plans = append(d.Tokens, plan.Token), append(d.plans, plan)
	}
	d.StableUSDC6, d.StableUSD18 = d.Tokens[1].Address, d.Tokens[2].Address
	return d.flush(ctx)
}

// funds wraps native currency for everybody and lets the routers take it.
func (d *deployment) funds(ctx context.Context) error {
	var transactions []anvil.Transaction
	for _, account := range d.Accounts {
		amount := units(traderWrapped, 18)
		if account == d.Deployer {
			amount = units(0.9*anvil.AccountEther, 18)
		}
		transactions = append(transactions, anvil.Transaction{From: account, To: d.Wrapped, Data: anvil.EncodeCall("deposit()"), Value: amount})
		for _, operator := range d.operators() {
			transactions = append(transactions, anvil.Transaction{
				From: account, To: d.Wrapped,
				Data: anvil.EncodeCall("approve(address,uint256)", operator, maxUint256),
			})
		}
	}
	if err := d.Node.Settle(ctx, transactions); err != nil {
		return err
	}
	d.nonce += uint64(1 + len(d.operators()))
	for _, account := range d.SmartAccounts {
		d.call(d.Wrapped, "transfer(address,uint256)", account, units(traderWrapped, 18))
	}
	return d.flush(ctx)
}

func (d *deployment) openPools(ctx context.Context, seed uint64) error {
	for _, plan := range planPools(d.plans, seed) {
		if d.factory(plan.protocol) == "" {
			continue
		}
		quote, hooks := anvil.ZeroAddress, ""
		if plan.quote != coin {
			quote = d.Tokens[plan.quote].Address
		}
		if plan.hooked {
			hooks = d.Hook
		}
		pool := d.newPool(plan.protocol, d.Tokens[plan.token].Address, quote, plan.fee, hooks)
		d.open(pool, opening{d.asset(pool.Token0).USD, d.asset(pool.Token1).USD, plan.depthUSD})
	}
	d.openMorePools()
	// One token at a million of another that nobody pays for either.
	worthless := d.TokensLike(Worthless)
	pool := d.newPool(UniswapV2, worthless[0].Address, worthless[1].Address, 0, "")
	pool.Trap = TrapUnquoted
	rich := opening{1, 1e-6, 1e6}
	if pool.Token0 != worthless[0].Address {
		rich.usd0, rich.usd1 = rich.usd1, rich.usd0
	}
	d.open(pool, rich)
	if err := d.flush(ctx); err != nil {
		return err
	}
	if err := d.locate(ctx, d.Pools); err != nil {
		return err
	}
	for i, pool := range d.Pools {
		if pool.key() == "" {
			return fmt.Errorf("pool %d was not created", i)
		}
	}
	return nil
}

func (d *deployment) open(pool Pool, with opening) {
	for _, tx := range d.openPool(pool, with) {
		d.add(tx)
	}
	d.Pools = append(d.Pools, pool)
}
