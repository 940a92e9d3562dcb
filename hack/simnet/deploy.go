package simnet

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"time"
)

// DeployOptions say what to deploy.
type DeployOptions struct {
	// Seed picks names, prices and depths. The same seed on a node with the same timestamp gives the
	// same blocks.
	Seed uint64
	// Native defaults to BNB on chain 56 and to ETH elsewhere.
	Native Native
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
func Deploy(ctx context.Context, node *Node, options DeployOptions) (*World, error) {
	if options.Native == (Native{}) {
		options.Native = Native{"ETH", "Wrapped Ether", "WETH", 3000}
		if node.chainID == 56 {
			options.Native = Native{"BNB", "Wrapped BNB", "WBNB", 600}
		}
	}
	d := &deployment{World: &World{Node: node, ChainID: node.chainID, Native: options.Native}}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"accounts", d.accounts},
		{"exchanges", d.exchanges},
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

// deployment collects the deployer's transactions, whose nonces give the addresses of new contracts
// before they are mined.
type deployment struct {
	*World
	plans   []tokenPlan // of Tokens, by index
	pending []transaction
	nonce   uint64
}

func (d *deployment) accounts(ctx context.Context) error {
	var accounts []string
	if err := d.Node.Call(ctx, &accounts, "eth_accounts"); err != nil {
		return err
	}
	if len(accounts) < accountCount {
		return fmt.Errorf("%d accounts, %d are needed", len(accounts), accountCount)
	}
	for i, account := range accounts {
		accounts[i] = toHex(fromHex(account)) // lower case
	}
	d.Accounts, d.Deployer = accounts, accounts[0]
	d.Traders = accounts[1 : len(accounts)-spareCount]
	d.Spare = accounts[len(accounts)-spareCount:]
	nonces, err := d.nonces(ctx, []transaction{{from: d.Deployer}})
	d.nonce = nonces[d.Deployer]
	return err
}

// create adds the creation of a contract and returns its address.
func (d *deployment) create(contract, constructor string, args ...any) string {
	code, found := d.Node.tools.Code[contract]
	if !found {
		panic("simnet: no code for " + contract)
	}
	data := bytes.Clone(code)
	if constructor != "" {
		data = append(data, encodeArgs(constructor, args...)...)
	}
	address := createAddress(d.Deployer, d.nonce)
	d.add(transaction{data: data})
	return address
}

// call adds the deployer's call of a contract.
func (d *deployment) call(to, signature string, args ...any) {
	d.add(transaction{to: to, data: encodeCall(signature, args...)})
}

func (d *deployment) add(tx transaction) {
	tx.from, tx.gas = d.Deployer, deployGas
	d.pending = append(d.pending, tx)
	d.nonce++
}

// flush mines what was collected.
func (d *deployment) flush(ctx context.Context) error {
	pending := d.pending
	d.pending = nil
	return d.settle(ctx, pending)
}

func (d *deployment) exchanges(ctx context.Context) error {
	d.Wrapped = d.create("WETH9", "")
	d.UniswapV2Factory = d.create("UniswapV2Factory", "(address)", d.Deployer)
	d.UniswapV3Factory = d.create("UniswapV3Factory", "")
	d.Routers.UniswapV2 = d.create("UniswapV2Router02", "(address,address)", d.UniswapV2Factory, d.Wrapped)
	d.Routers.UniswapV3 = d.create("SwapRouter", "(address,address)", d.UniswapV3Factory, d.Wrapped)
	// The descriptor draws the picture of a position and is not needed.
	d.Routers.V3Positions = d.create("NonfungiblePositionManager", "(address,address,address)",
		d.UniswapV3Factory, d.Wrapped, zeroAddress)
	d.call(d.UniswapV3Factory, "enableFeeAmount(uint24,int24)", 100, 1)
	if err := d.flush(ctx); err != nil {
		return err
	}
	if d.Native.WrappedSymbol == "WETH" {
		return nil
	}
	// Other chains' wrapped assets are copies of WETH9 with their own name, its first two storage slots.
	for slot, text := range []string{d.Native.WrappedName, d.Native.WrappedSymbol} {
		if err := d.Node.Call(ctx, nil, "anvil_setStorageAt", d.Wrapped, hexOf(uint64(slot)), toHex(shortString(text))); err != nil {
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
	return []string{d.Routers.UniswapV2, d.Routers.UniswapV3, d.Routers.V3Positions}
}

func (d *deployment) tokens(ctx context.Context, seed uint64) error {
	wrapped := Token{
		Address: d.Wrapped, Name: d.Native.WrappedName, Symbol: d.Native.WrappedSymbol, Decimals: 18,
		Behaviour: Wrapped, USD: d.Native.USD,
	}
	d.Tokens, d.plans = []Token{wrapped}, []tokenPlan{{Token: wrapped}}
	for _, plan := range planTokens(seed) {
		each := plan.supply * holderShare
		if plan.Behaviour == Stable {
			each = traderDollars
		}
		rest := plan.supply - each*float64(len(d.Traders))
		plan.Address = d.create(plan.contract,
			"((string,string,uint8,uint256,address[],uint256,address[]))",
			tuple{plan.Name, plan.Symbol, plan.Decimals, units(rest, plan.Decimals),
				d.Traders, units(each, plan.Decimals), d.operators()})
		d.Tokens, d.plans = append(d.Tokens, plan.Token), append(d.plans, plan)
	}
	d.StableUSDC6, d.StableUSD18 = d.Tokens[1].Address, d.Tokens[2].Address
	return d.flush(ctx)
}

// funds wraps native currency for everybody and lets the routers take it.
func (d *deployment) funds(ctx context.Context) error {
	var transactions []transaction
	for _, account := range d.Accounts {
		amount := units(traderWrapped, 18)
		if account == d.Deployer {
			amount = units(0.9*accountEther, 18)
		}
		transactions = append(transactions, transaction{from: account, to: d.Wrapped, data: encodeCall("deposit()"), value: amount})
		for _, operator := range d.operators() {
			transactions = append(transactions, transaction{from: account, to: d.Wrapped,
				data: encodeCall("approve(address,uint256)", operator, maxUint256)})
		}
	}
	if err := d.settle(ctx, transactions); err != nil {
		return err
	}
	d.nonce += uint64(1 + len(d.operators()))
	return nil
}

func (d *deployment) openPools(ctx context.Context, seed uint64) error {
	plans := planPools(d.plans, seed)
	for _, plan := range plans {
		d.openPool(plan)
	}
	worthless := d.TokensLike(Worthless)
	d.openWorthless(worthless[0], worthless[1])
	if err := d.flush(ctx); err != nil {
		return err
	}
	return d.findPools(ctx, plans, worthless)
}

func (d *deployment) openPool(plan poolPlan) {
	token, other := d.Tokens[plan.token], d.Tokens[plan.quote]
	if plan.protocol == UniswapV2 {
		d.call(d.Routers.UniswapV2, "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)",
			token.Address, other.Address,
			units(plan.depthUSD/token.USD, token.Decimals), units(plan.depthUSD/other.USD, other.Decimals),
			0, 0, d.Deployer, deadline)
		return
	}
	if token.Address > other.Address {
		token, other = other, token
	}
	ratio := token.USD / other.USD * pow10(float64(other.Decimals-token.Decimals))
	d.call(d.Routers.V3Positions, "createAndInitializePoolIfNecessary(address,address,uint24,uint160)",
		token.Address, other.Address, plan.fee, sqrtPriceX96(ratio))
	for _, position := range v3Positions(ratio, tickSpacings[plan.fee]) {
		d.call(d.Routers.V3Positions,
			"mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))",
			tuple{token.Address, other.Address, plan.fee, position.lower, position.upper,
				units(plan.depthUSD*position.share/token.USD, token.Decimals),
				units(plan.depthUSD*position.share/other.USD, other.Decimals),
				0, 0, d.Deployer, deadline})
	}
}

// openWorthless prices one token at a million of another that nobody pays for either.
func (d *deployment) openWorthless(rich, poor Token) {
	d.call(d.Routers.UniswapV2, "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)",
		rich.Address, poor.Address, units(1e6, rich.Decimals), units(1e12, poor.Decimals), 0, 0, d.Deployer, deadline)
}

// findPools asks the factories where the pools are.
func (d *deployment) findPools(ctx context.Context, plans []poolPlan, worthless []Token) error {
	found := make([]hexBytes, len(plans)+1)
	requests := make([]Request, len(plans)+1)
	for i, plan := range plans {
		token, other := d.Tokens[plan.token].Address, d.Tokens[plan.quote].Address
		pool := Pool{Protocol: plan.protocol, Token0: min(token, other), Token1: max(token, other), Factory: d.UniswapV2Factory, Fee: 3000}
		if plan.protocol == UniswapV2 {
			requests[i] = view(d.UniswapV2Factory, &found[i], "getPair(address,address)", token, other)
		} else {
			pool.Factory, pool.Fee, pool.TickSpacing = d.UniswapV3Factory, plan.fee, tickSpacings[plan.fee]
			requests[i] = view(d.UniswapV3Factory, &found[i], "getPool(address,address,uint24)", token, other, plan.fee)
		}
		d.Pools = append(d.Pools, pool)
	}
	rich, poor := worthless[0].Address, worthless[1].Address
	requests[len(plans)] = view(d.UniswapV2Factory, &found[len(plans)], "getPair(address,address)", rich, poor)
	d.Pools = append(d.Pools, Pool{Protocol: UniswapV2, Token0: min(rich, poor), Token1: max(rich, poor),
		Factory: d.UniswapV2Factory, Fee: 3000, Trap: TrapUnquoted})
	if err := d.Node.Batch(ctx, requests); err != nil {
		return err
	}
	for i := range d.Pools {
		if d.Pools[i].Address = addressAt(found[i], 0); d.Pools[i].Address == zeroAddress {
			return fmt.Errorf("pool %d was not created", i)
		}
	}
	return firstError(requests)
}

// mineNext mines one block, a second after the newest one.
func (w *World) mineNext(ctx context.Context) error {
	latest, err := w.Node.Latest(ctx)
	if err != nil {
		return err
	}
	return w.Node.MineAt(ctx, latest.Timestamp.Add(time.Second))
}
