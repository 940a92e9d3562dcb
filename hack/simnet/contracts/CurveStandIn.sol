// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import "./BoardwalkCurve.sol";
import "./Exchanges.sol";

/// The token that stand-ins make. A plain ERC-20 without owner, whose code isn't that of Boardwalk's own launches.
contract LaunchToken is BoardwalkToken {
    bool public constant standsIn = true;

    constructor(string memory name_, string memory symbol_) BoardwalkToken(name_, symbol_) {}
}

/// What a stand-in's curves are made of, and where they go.
struct StandInConfig {
    uint256 virtualBase; // of a fresh curve, as the next two
    uint256 virtualQuote;
    uint256 saleBase;
    address treasury; // gets the fees
    IWrapped wrapped;
    IV2Factory v2Factory;
    IV3Positions v3Positions;
}

/// One bonding curve with constant product: the arithmetic that all stand-ins share.
struct Curve {
    address creator;
    uint256 virtualBase;
    uint256 virtualQuote;
    bool completed;
    bytes32 pool;
}

/// What a trade came to. net is what the curve's quote rose or fell by.
struct Fill {
    uint256 base;
    uint256 net;
    uint256 fee;
    uint256 tax;
}

/// Launchpads' contracts are not published as packages, so contracts of our own stand in for them. They log the launchpads'
/// events and keep real curves; beyond that they are simnet's: each has the same functions, those of BoardwalkCurve. Those of
/// four.meme V2, Flap and Pons also have the launchpad's own for a purchase and a sale, which trust checks call. None is fit for
/// anything but a local chain.
abstract contract CurveStandIn {
    using PoolMath for uint256;

    uint256 internal constant SUPPLY = 1_000_000_000e18;
    uint256 internal constant FEE_BPS = 100;
    uint256 private constant BPS = 10_000;
    address private constant DEAD = 0x000000000000000000000000000000000000dEaD;
    uint24 internal constant V3_FEE = 10000;
    int24 private constant LAST_TICK = 887200; // the last multiple of V3_FEE's spacing

    uint256 internal immutable initialVirtualBase;
    uint256 internal immutable initialVirtualQuote;
    uint256 internal immutable saleBase;
    uint256 internal immutable targetQuote; // what a full curve has raised
    uint256 private immutable product;
    address private immutable treasury;
    IWrapped internal immutable wrapped;
    IV2Factory private immutable v2Factory;
    IV3Positions internal immutable v3Positions;

    mapping(address => Curve) internal curveOf;

    constructor(StandInConfig memory c) {
        (initialVirtualBase, initialVirtualQuote, saleBase, treasury) = (c.virtualBase, c.virtualQuote, c.saleBase, c.treasury);
        (wrapped, v2Factory, v3Positions) = (c.wrapped, c.v2Factory, c.v3Positions);
        product = c.virtualBase * c.virtualQuote;
        targetQuote = product.ceilDiv(c.virtualBase - c.saleBase) - c.virtualQuote;
    }

    /// What is left for sale, and what was raised.
    function curves(address token)
        external
        view
        returns (
            uint256 virtualBase,
            uint256 virtualQuote,
            uint256 realBase,
            uint256 realQuote,
            bool completed,
            bytes32 pool
        )
    {
        Curve storage c = curveOf[token];
        if (c.virtualBase == 0) return (0, 0, 0, 0, false, 0);
        (virtualBase, virtualQuote, completed, pool) = (c.virtualBase, c.virtualQuote, c.completed, c.pool);
        (realBase, realQuote) = (left(c), raised(c));
    }

    /// The curve's price of 10^18 base units, in quote units, rounded down.
    function price(address token) public view returns (uint256) {
        Curve storage c = curveOf[token];
        return (c.virtualQuote * 1e18) / c.virtualBase;
    }

    function left(Curve storage c) internal view returns (uint256) {
        return c.virtualBase - (initialVirtualBase - saleBase);
    }

    function raised(Curve storage c) internal view returns (uint256) {
        return c.virtualQuote - initialVirtualQuote;
    }

    /// A fresh token on a fresh curve.
    function makeCurve(string calldata name, string calldata symbol) internal returns (address token) {
        token = address(new LaunchToken(name, symbol));
        fresh(token, msg.sender);
    }

    /// Puts a token of somebody's own on a curve. It takes the whole supply, which must be 10^27.
    function adoptCurve(address token) internal {
        require(curveOf[token].virtualBase == 0, "has a curve");
        require(IERC20(token).transferFrom(msg.sender, address(this), SUPPLY), "not paid");
        require(IERC20(token).balanceOf(address(this)) == SUPPLY, "not the whole supply");
        fresh(token, msg.sender);
    }

    function fresh(address token, address creator) internal {
        Curve storage c = curveOf[token];
        (c.creator, c.virtualBase, c.virtualQuote) = (creator, initialVirtualBase, initialVirtualQuote);
    }

    function trading(address token) private view returns (Curve storage c) {
        c = curveOf[token];
        require(c.virtualBase != 0, "no such curve");
        require(!c.completed, "complete");
    }

    /// Buys for what was sent along and gives back what the last buy leaves.
    function fillBuy(address token, uint256 minBase, address recipient, uint256 taxBps) internal returns (Fill memory f) {
        Curve storage c = trading(token);
        uint256 spent = msg.value;
        f.fee = (spent * FEE_BPS).ceilDiv(BPS);
        f.tax = (spent * taxBps).ceilDiv(BPS);
        f.net = spent - f.fee - f.tax;
        uint256 virtualBase = product.ceilDiv(c.virtualQuote + f.net);
        uint256 last = initialVirtualBase - saleBase;
        if (virtualBase <= last) {
            virtualBase = last;
            f.net = targetQuote - raised(c);
            spent = (f.net * BPS).ceilDiv(BPS - FEE_BPS - taxBps);
            f.tax = (spent * taxBps) / BPS;
            f.fee = spent - f.net - f.tax;
            c.completed = true;
        }
        f.base = c.virtualBase - virtualBase;
        require(f.base > 0 && f.base >= minBase, "too few tokens");
        (c.virtualBase, c.virtualQuote) = (virtualBase, c.virtualQuote + f.net);
        require(IERC20(token).transfer(recipient, f.base), "not sent");
        pay(treasury, f.fee);
        pay(c.creator, f.tax);
        pay(msg.sender, msg.value - spent);
    }

    /// Sells what of the tokens arrives, as some take a tax of their own.
    function fillSell(address token, uint256 base, uint256 minQuote, address recipient, uint256 taxBps)
        internal
        returns (Fill memory f)
    {
        Curve storage c = trading(token);
        uint256 before = IERC20(token).balanceOf(address(this));
        require(IERC20(token).transferFrom(msg.sender, address(this), base), "not paid");
        f.base = IERC20(token).balanceOf(address(this)) - before;
        uint256 virtualBase = c.virtualBase + f.base;
        require(virtualBase <= initialVirtualBase, "more than was sold");
        uint256 virtualQuote = product.ceilDiv(virtualBase);
        f.net = c.virtualQuote - virtualQuote;
        f.fee = (f.net * FEE_BPS).ceilDiv(BPS);
        f.tax = (f.net * taxBps).ceilDiv(BPS);
        uint256 got = f.net - f.fee - f.tax;
        require(got > 0 && got >= minQuote, "too little quote");
        (c.virtualBase, c.virtualQuote) = (virtualBase, virtualQuote);
        pay(treasury, f.fee);
        pay(c.creator, f.tax);
        pay(recipient, got);
    }

    function pay(address to, uint256 amount) internal {
        if (amount == 0) return;
        (bool sent,) = to.call{value: amount}("");
        require(sent, "payment refused");
    }

    /// The curve that is about to leave for a pool.
    function leaving(address token) internal view returns (Curve storage c, uint256 base, uint256 quote) {
        c = curveOf[token];
        require(c.completed, "not complete");
        require(c.pool == 0, "graduated");
        return (c, SUPPLY - saleBase, targetQuote);
    }

    /// Puts both into a Uniswap V2 pair, whose shares are burned.
    function toV2(address token, uint256 base, uint256 quote) internal returns (address pair) {
        wrapped.deposit{value: quote}();
        pair = v2Factory.getPair(token, address(wrapped));
        if (pair == address(0)) pair = v2Factory.createPair(token, address(wrapped));
        require(IERC20(token).transfer(pair, base) && wrapped.transfer(pair, quote), "not sent");
        IV2Pair(pair).mint(DEAD);
    }

    /// Opens a Uniswap V3 pool at the price that two amounts make, if there is none.
    function openV3(address token, uint256 base, uint256 quote) internal returns (address pool) {
        (address token0, address token1, uint256 amount0, uint256 amount1) = sorted(token, base, quote);
        uint160 sqrtPrice = PoolMath.sqrtPriceX96(amount0, amount1);
        return v3Positions.createAndInitializePoolIfNecessary(token0, token1, V3_FEE, sqrtPrice);
    }

    /// Puts both into an open Uniswap V3 pool, as a position over the whole range that stays here for good.
    function toV3(address token, uint256 base, uint256 quote) internal returns (uint256 positionId) {
        wrapped.deposit{value: quote}();
        wrapped.approve(address(v3Positions), quote);
        IERC20(token).approve(address(v3Positions), base);
        (address token0, address token1, uint256 amount0, uint256 amount1) = sorted(token, base, quote);
        (positionId,,,) = v3Positions.mint(
            V3Mint(token0, token1, V3_FEE, -LAST_TICK, LAST_TICK, amount0, amount1, 0, 0, address(this), block.timestamp)
        );
    }

    function sorted(address token, uint256 base, uint256 quote)
        private
        view
        returns (address token0, address token1, uint256 amount0, uint256 amount1)
    {
        return token < address(wrapped)
            ? (token, address(wrapped), base, quote)
            : (address(wrapped), token, quote, base);
    }
}
