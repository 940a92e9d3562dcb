package world

import (
	"context"
	"errors"
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
	// Places are addresses of a mainnet's, to put contracts at; nil is none.
	Places *Places
}

const (
	deployGas = 12_000_000
	// Deadline is far beyond any block time.
	Deadline = 1 << 40
	// TraderWrapped is how much wrapped native each trader starts with.
	TraderWrapped = 20_000
)

// MaxUint256 is the largest word.
var MaxUint256 = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))

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
	d := &Deployment{World: &World{Node: node, ChainID: node.ChainID(), Native: options.Native}, places: options.Places}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"accounts", d.accounts},
		{"exchanges", func(ctx context.Context) error { return d.exchanges(ctx, options.Classic) }},
		{"tokens", func(ctx context.Context) error { return d.tokens(ctx, options.Seed) }},
		{"funds", d.funds},
		{"pools", func(ctx context.Context) error { return d.openPools(ctx, options.Seed) }},
	} {
		if err := step.run(ctx); err != nil {
			return nil, fmt.Errorf("simnet: deploy %s: %w", step.name, err)
		}
	}
	return d.World, nil
}

// Deployment collects the deployer's transactions, whose nonces give the addresses of new contracts
// before they are mined.
type Deployment struct {
	*World
	// Pending are the transactions, Nonce is that of the next one.
	Pending []anvil.Transaction
	Nonce   uint64
	places  *Places
	plans   []tokenPlan // of Tokens, by index
	failed  error       // the first of createAt
}

// NewDeployment collects transactions of the world's deployer from a nonce on.
func NewDeployment(w *World, nonce uint64) *Deployment {
	return &Deployment{World: w, places: &Places{}, Nonce: nonce}
}

func (d *Deployment) accounts(ctx context.Context) error {
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
	d.Nonce = nonces[d.Deployer]
	return err
}

// Create adds the creation of a contract and returns its address.
func (d *Deployment) Create(contract, constructor string, args ...any) string {
	address := anvil.CreateAddress(d.Deployer, d.Nonce)
	d.Add(anvil.Transaction{Data: d.initCode(contract, constructor, args...)})
	return address
}

// call adds the deployer's call of a contract.
func (d *Deployment) call(to, signature string, args ...any) {
	d.Add(anvil.Transaction{To: to, Data: anvil.EncodeCall(signature, args...)})
}

// Add adds a transaction of the deployer's.
func (d *Deployment) Add(tx anvil.Transaction) {
	tx.From, tx.Gas = d.Deployer, deployGas
	d.Pending = append(d.Pending, tx)
	d.Nonce++
}

// Flush mines what was collected.
func (d *Deployment) Flush(ctx context.Context) error {
	if d.failed != nil {
		return d.failed
	}
	pending := d.Pending
	d.Pending = nil
	if len(pending) == 0 {
		return nil
	}
	return d.Node.Settle(ctx, pending)
}

func (d *Deployment) exchanges(ctx context.Context, classic bool) error {
	d.Wrapped = d.createAt(ctx, d.places.Wrapped, "WETH9", "")
	d.UniswapV2Factory = d.createAt(ctx, d.places.UniswapV2Factory, "UniswapV2Factory", "(address)", d.Deployer)
	d.UniswapV3Factory = d.createAt(ctx, d.places.UniswapV3Factory, "UniswapV3Factory", "")
	d.Routers.UniswapV2 = d.Create("UniswapV2Router02", "(address,address)", d.UniswapV2Factory, d.Wrapped)
	d.Routers.UniswapV3 = d.Create("SwapRouter", "(address,address)", d.UniswapV3Factory, d.Wrapped)
	// The descriptor draws the picture of a position and is not needed.
	d.Routers.V3Positions = d.Create("NonfungiblePositionManager", "(address,address,address)",
		d.UniswapV3Factory, d.Wrapped, anvil.ZeroAddress)
	d.call(d.UniswapV3Factory, "enableFeeAmount(uint24,int24)", 100, 1)
	d.placedExchanges(ctx) // before the smart accounts, which let all routers take their wrapped coin
	if !classic {
		d.uniswapV4(ctx)
		d.pancakeSwapV3(ctx)
		d.intermediaries()
	}
	if err := d.Flush(ctx); err != nil {
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

// Operators may move the tokens of simnet's own contracts without allowance.
func (d *Deployment) Operators() []string {
	all := []string{
		d.Routers.UniswapV2, d.Routers.UniswapV3, d.Routers.V3Positions,
		d.Routers.UniswapV4, d.Routers.PancakeSwapV3, d.Routers.PancakeSwapV2, d.Routers.Solidly, d.Routers.Aggregator,
		d.Routers.Platform, d.Pump,
	}
	for _, exchange := range d.Slipstream {
		all = append(all, exchange.Router)
	}
	for _, exchange := range d.MoreUniswapV3 {
		all = append(all, exchange.Router, exchange.Positions)
	}
	return slices.DeleteFunc(all, func(address string) bool { return address == "" })
}

func (d *Deployment) tokens(ctx context.Context, seed uint64) error {
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
				plan.Name, plan.Symbol, plan.Decimals, Units(rest, plan.Decimals),
				holders, Units(each, plan.Decimals), d.Operators(),
			})
		d.Tokens, d.plans = append(d.Tokens, plan.Token), append(d.plans, plan)
	}
	d.StableUSDC6, d.StableUSD18 = d.Tokens[1].Address, d.Tokens[2].Address
	return d.Flush(ctx)
}

// funds wraps native currency for everybody and lets the routers take it.
func (d *Deployment) funds(ctx context.Context) error {
	var transactions []anvil.Transaction
	for _, account := range d.Accounts {
		amount := Units(TraderWrapped, 18)
		if account == d.Deployer {
			amount = Units(0.9*anvil.AccountEther, 18)
		}
		transactions = append(transactions, anvil.Transaction{From: account, To: d.Wrapped, Data: anvil.EncodeCall("deposit()"), Value: amount})
		for _, operator := range d.Operators() {
			transactions = append(transactions, anvil.Transaction{
				From: account, To: d.Wrapped,
				Data: anvil.EncodeCall("approve(address,uint256)", operator, MaxUint256),
			})
		}
	}
	if err := d.Node.Settle(ctx, transactions); err != nil {
		return err
	}
	d.Nonce += uint64(1 + len(d.Operators()))
	for _, account := range d.SmartAccounts {
		d.call(d.Wrapped, "transfer(address,uint256)", account, Units(TraderWrapped, 18))
	}
	return d.Flush(ctx)
}

func (d *Deployment) openPools(ctx context.Context, seed uint64) error {
	for _, plan := range planPools(d.plans, seed) {
		if d.FactoryOf(plan.protocol) == "" {
			continue
		}
		quote, hooks := anvil.ZeroAddress, ""
		if plan.quote != coin {
			quote = d.Tokens[plan.quote].Address
		}
		if plan.hooked {
			hooks = d.Hook
		}
		pool := d.NewPool(plan.protocol, d.Tokens[plan.token].Address, quote, plan.fee, hooks)
		d.open(pool, Opening{USD0: d.Asset(pool.Token0).USD, USD1: d.Asset(pool.Token1).USD, DepthUSD: plan.depthUSD})
	}
	d.openMorePools()
	// One token at a million of another that nobody pays for either.
	worthless := d.TokensLike(Worthless)
	pool := d.NewPool(UniswapV2, worthless[0].Address, worthless[1].Address, 0, "")
	pool.Trap = TrapUnquoted
	rich := Opening{USD0: 1, USD1: 1e-6, DepthUSD: 1e6}
	if pool.Token0 != worthless[0].Address {
		rich.USD0, rich.USD1 = rich.USD1, rich.USD0
	}
	d.open(pool, rich)
	if err := d.Flush(ctx); err != nil {
		return err
	}
	if err := d.Locate(ctx, d.Pools); err != nil {
		return err
	}
	for i, pool := range d.Pools {
		if pool.Key() == "" {
			return fmt.Errorf("pool %d was not created", i)
		}
	}
	return nil
}

func (d *Deployment) open(pool Pool, with Opening) {
	for _, tx := range d.OpenPool(pool, with) {
		d.Add(tx)
	}
	d.Pools = append(d.Pools, pool)
}

// smartAccountCount is how many accounts trade in bundles.
const smartAccountCount = 4

func (d *Deployment) intermediaries() {
	d.Routers.Aggregator = d.Create("Aggregator", "")
	d.Pump = d.Create("Pump", "")
	d.EntryPoint = d.Create("EntryPoint", "")
	for range smartAccountCount {
		d.SmartAccounts = append(d.SmartAccounts,
			d.Create("SmartAccount", "(address,address,address[])", d.EntryPoint, d.Wrapped, d.Operators()))
	}
	d.Routers.Platform = d.Create("PlatformRouter", "(address)", FeeRecipient)
}

// ErrClassic says that a world lacks what only unclassic ones have: see DeployOptions.
var ErrClassic = errors.New("simnet: a classic world has no contracts for that")
