// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

// The parts of tokens, exchanges and launch venues that are called here. Functions that return what isn't needed return nothing.

interface IToken {
    function balanceOf(address account) external view returns (uint256);
    function totalSupply() external view returns (uint256);
}

interface IWrapped {
    function deposit() external payable;
}

interface IPair {
    function getReserves() external view returns (uint256 reserve0, uint256 reserve1);
    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

interface IPool {
    function swap(address recipient, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data)
        external
        returns (int256 amount0, int256 amount1);
}

struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct SwapOrder {
    bool zeroForOne;
    int256 amount;
    uint160 limit;
}

interface IPoolManager {
    function unlock(bytes calldata data) external returns (bytes memory);
    function swap(PoolKey calldata key, SwapOrder calldata order, bytes calldata hookData) external returns (int256);
    function sync(address currency) external;
    function settle() external payable returns (uint256);
    function take(address currency, address to, uint256 amount) external;
}

interface IBoardwalkCurve {
    function buy(address token, uint256 minBase, address recipient) external payable returns (uint256);
    function sell(address token, uint256 baseAmount, uint256 minQuote, address recipient) external returns (uint256);
}

interface IFourMeme {
    function buyTokenAMAP(address token, uint256 funds, uint256 minAmount) external payable;
    function sellToken(address token, uint256 amount) external;
}

struct FlapOrder {
    address inputToken;
    address outputToken;
    uint256 inputAmount;
    uint256 minOutputAmount;
    bytes permitData;
}

interface IFlap {
    function swapExactInput(FlapOrder calldata order) external payable returns (uint256);
}

interface IPonsCurve {
    function buy(uint256 quoteIn, uint256 minTokensOut, address recipient) external payable returns (uint256);
    function sell(uint256 tokensIn, uint256 minQuoteOut, address recipient) external returns (uint256);
}

/// Trades a token in a simulated call and measures what becomes of it. It is never deployed: a node is told, for one eth_call, that
/// this code and a balance of the native coin are at the addresses of the trial. Whatever the token does, burning gas and returning
/// megabytes included, ends the stage that it is done in and not the trial.
contract Probe {
    // How a market is traded with.
    uint8 private constant NONE = 0;
    uint8 private constant PAIR = 1; // Uniswap V2
    uint8 private constant SOLIDLY = 2;
    uint8 private constant POOL = 3; // Uniswap V3
    uint8 private constant MANAGER = 4; // Uniswap V4
    uint8 private constant BOARDWALK = 5;
    uint8 private constant FOUR_MEME = 6;
    uint8 private constant FLAP = 7;
    uint8 private constant PONS = 8;

    // Where a trial ended: the stage that was refused.
    uint256 private constant DONE = 0;
    uint256 private constant FUND = 1;
    uint256 private constant BUY = 2;
    uint256 private constant SELL = 3;

    uint160 private constant LOWEST = 4295128740; // the limits of TickMath, exclusive
    uint160 private constant HIGHEST = 1461446703485210103287273052203988822378723970341;

    uint256 private constant STAGE_GAS = 2_500_000;
    uint256 private constant READ_GAS = 200_000;
    uint256 private constant KEPT = 256; // bytes of what a stranger answers
    uint256 private constant KEPT_OF_STAGE = 512;

    /// A place to trade. The native coin is 0. feePips is in hundredths of a basis point.
    struct Market {
        uint8 kind;
        address venue;
        address base;
        address quote;
        uint24 feePips;
        int24 tickSpacing;
        address hooks;
    }

    /// What to try. spend is in the native coin. funding is where the native coin, wrapped if its quote is the wrapped one, buys
    /// what the market takes; its base is the market's quote. peer has this code too.
    struct Plan {
        address wrapped;
        uint256 spend;
        address peer;
        Market funding;
        Market market;
    }

    /// What came of it. Amounts are raw; given is what the market's own accounting says it gave, got what arrived.
    struct Measures {
        uint256 stage;
        uint256 buyGiven;
        uint256 buyGot;
        uint256 transferred; // 0 when a transfer was refused
        uint256 outSent;
        uint256 outGot;
        uint256 backSent;
        uint256 backGot;
        uint256 sellSent;
        uint256 sellReached;
        uint256 sellGiven;
        uint256 sellGot;
        uint256 handedSent; // a plain transfer to the market, tried where the sale was refused
        uint256 handedGot;
    }

    /// The market that a swap is under way with: nobody else's callback is served.
    address private trading;

    receive() external payable {}

    modifier onlySelf() {
        require(msg.sender == address(this), "not for others");
        _;
    }

    // The trials.

    /// Buys, transfers a quarter to the peer and back, and sells everything. The transfers are undone before the sale: a token
    /// that lets an account trade once in a while must not be taken for one that can't be sold.
    function trade(Plan calldata plan) external returns (Measures memory m, bytes memory reason) {
        (m.stage, reason) = _enter(plan, m);
        if (m.stage != DONE) return (m, reason);
        address token = plan.market.base;
        bool ok;
        bytes memory out;
        (ok, out) = _undone(abi.encodeCall(this.lend, (token, plan.peer)));
        if (ok) {
            (m.outSent, m.outGot, m.backSent, m.backGot) = abi.decode(out, (uint256, uint256, uint256, uint256));
            m.transferred = 1;
        } else {
            reason = out;
        }
        (ok, out) = _stage(abi.encodeCall(this.leave, (plan.market)));
        if (ok) {
            (m.sellSent, m.sellReached, m.sellGiven, m.sellGot) = abi.decode(out, (uint256, uint256, uint256, uint256));
            return (m, reason);
        }
        (m.stage, reason) = (SELL, out);
        (ok, out) = _stage(abi.encodeCall(this.hand, (token, plan.market.venue)));
        if (ok) (m.handedSent, m.handedGot) = abi.decode(out, (uint256, uint256));
    }

    /// What an owner could do.
    struct Power {
        uint256 stage;
        uint256 worked; // the owner's call was accepted
        uint256 transferBefore; // 1 where a transfer to the peer went through
        uint256 transferAfter;
        uint256 sellAfter;
        uint256 supplyBefore;
        uint256 supplyAfter;
    }

    /// Buys, lets the owner, at whose address this code is too, call the token, and tries whether a transfer and a sale still
    /// work. A plan without a market buys nothing.
    function power(Plan calldata plan, address token, address owner, bytes calldata order) external returns (Power memory p) {
        if (plan.market.kind != NONE) {
            Measures memory m;
            (p.stage,) = _enter(plan, m);
        }
        p.supplyBefore = _read(token, abi.encodeCall(IToken.totalSupply, ()));
        bool ok;
        (ok,) = _undone(abi.encodeCall(this.pass, (token, plan.peer)));
        p.transferBefore = ok ? 1 : 0;
        (ok,) = _bounded(owner, abi.encodeCall(this.relay, (token, order)), STAGE_GAS, KEPT);
        p.worked = ok ? 1 : 0;
        p.supplyAfter = _read(token, abi.encodeCall(IToken.totalSupply, ()));
        (ok,) = _undone(abi.encodeCall(this.pass, (token, plan.peer)));
        p.transferAfter = ok ? 1 : 0;
        if (plan.market.kind != NONE) {
            (ok,) = _stage(abi.encodeCall(this.leave, (plan.market)));
            p.sellAfter = ok ? 1 : 0;
        }
    }

    function _enter(Plan calldata plan, Measures memory m) private returns (uint256 stage, bytes memory reason) {
        (bool ok, bytes memory out) = _stage(abi.encodeCall(this.fund, (plan)));
        if (!ok) return (FUND, out);
        (ok, out) = _stage(abi.encodeCall(this.enter, (plan.market, abi.decode(out, (uint256)))));
        if (!ok) return (BUY, out);
        (m.buyGiven, m.buyGot) = abi.decode(out, (uint256, uint256));
        if (m.buyGot == 0) return (BUY, "");
    }

    // The stages. Each is a call of its own, so that what a token does undoes no more than the stage.

    function fund(Plan calldata plan) external onlySelf returns (uint256 amount) {
        address quote = plan.market.quote;
        if (quote == address(0)) return plan.spend;
        bool wraps = plan.funding.kind == NONE || plan.funding.quote != address(0);
        if (wraps) IWrapped(plan.wrapped).deposit{value: plan.spend}();
        if (plan.funding.kind == NONE) return plan.spend;
        uint256 before = _balance(quote, address(this));
        _swap(plan.funding, true, plan.spend);
        return _balance(quote, address(this)) - before;
    }

    function enter(Market calldata at, uint256 amount) external onlySelf returns (uint256 given, uint256 got) {
        uint256 before = _balance(at.base, address(this));
        (, given) = _swap(at, true, amount);
        got = _balance(at.base, address(this)) - before;
    }

    function lend(address token, address peer)
        external
        onlySelf
        returns (uint256 outSent, uint256 outGot, uint256 backSent, uint256 backGot)
    {
        (uint256 mine, uint256 theirs) = (_balance(token, address(this)), _balance(token, peer));
        _transfer(token, peer, mine / 4);
        (uint256 mine2, uint256 theirs2) = (_balance(token, address(this)), _balance(token, peer));
        (outSent, outGot) = (mine - mine2, theirs2 - theirs);
        Probe(payable(peer)).giveBack(token, outGot);
        (backSent, backGot) = (theirs2 - _balance(token, peer), _balance(token, address(this)) - mine2);
    }

    function pass(address token, address peer) external onlySelf {
        uint256 before = _balance(token, peer);
        _transfer(token, peer, _balance(token, address(this)) / 8);
        require(_balance(token, peer) > before, "nothing arrived");
    }

    function leave(Market calldata at)
        external
        onlySelf
        returns (uint256 sent, uint256 reached, uint256 given, uint256 got)
    {
        (uint256 mine, uint256 before) = (_balance(at.base, address(this)), _balance(at.quote, address(this)));
        // four.meme trades in whole thousand millions of units
        uint256 amount = at.kind == FOUR_MEME ? mine - mine % 1e9 : mine;
        (reached, given) = _swap(at, false, amount);
        (sent, got) = (mine - _balance(at.base, address(this)), _balance(at.quote, address(this)) - before);
        require(got > 0, "nothing for it");
    }

    function hand(address token, address venue) external onlySelf returns (uint256 sent, uint256 got) {
        (uint256 mine, uint256 theirs) = (_balance(token, address(this)), _balance(token, venue));
        _transfer(token, venue, mine / 2);
        return (mine - _balance(token, address(this)), _balance(token, venue) - theirs);
    }

    /// The peer's part of a loan.
    function giveBack(address token, uint256 amount) external {
        _transfer(token, msg.sender, amount);
    }

    /// The owner's part of a trial of its power.
    function relay(address token, bytes calldata order) external {
        (bool ok, bytes memory out) = _bounded(token, order, gasleft(), KEPT);
        if (!ok) _refuse(out);
    }

    // Trading. buying says that amount is of the quote, else it is of the base. reached is what arrived in the market by its own
    // accounting, given what it gave.

    function _swap(Market calldata at, bool buying, uint256 amount) private returns (uint256 reached, uint256 given) {
        require(amount > 0, "nothing to swap");
        trading = at.venue;
        (address tokenIn, address tokenOut) = buying ? (at.quote, at.base) : (at.base, at.quote);
        if (at.kind == PAIR || at.kind == SOLIDLY) {
            (reached, given) = _swapPair(at, tokenIn, tokenOut, amount);
        } else if (at.kind == POOL) {
            bool zeroForOne = tokenIn < tokenOut;
            (int256 amount0, int256 amount1) = IPool(at.venue).swap(
                address(this), zeroForOne, int256(amount), zeroForOne ? LOWEST : HIGHEST, abi.encode(tokenIn)
            );
            (reached, given) = zeroForOne ? (uint256(amount0), uint256(-amount1)) : (uint256(amount1), uint256(-amount0));
        } else if (at.kind == MANAGER) {
            bytes memory out = IPoolManager(at.venue).unlock(abi.encode(at, tokenIn < tokenOut, amount));
            (reached, given) = abi.decode(out, (uint256, uint256));
        } else {
            (reached, given) = _swapCurve(at, buying, amount);
        }
        trading = address(0);
    }

    function _swapPair(Market calldata at, address tokenIn, address tokenOut, uint256 amount)
        private
        returns (uint256 reached, uint256 given)
    {
        _transfer(tokenIn, at.venue, amount);
        (uint256 reserveIn, uint256 reserveOut) = IPair(at.venue).getReserves();
        bool zeroForOne = tokenIn < tokenOut;
        if (!zeroForOne) (reserveIn, reserveOut) = (reserveOut, reserveIn);
        reached = _balance(tokenIn, at.venue) - reserveIn;
        if (at.kind == SOLIDLY) {
            given = IPair(at.venue).getAmountOut(reached, tokenIn);
        } else {
            uint256 less = reached * (1_000_000 - at.feePips);
            given = less * reserveOut / (reserveIn * 1_000_000 + less);
        }
        (uint256 out0, uint256 out1) = zeroForOne ? (uint256(0), given) : (given, uint256(0));
        IPair(at.venue).swap(out0, out1, address(this), "");
    }

    function _swapCurve(Market calldata at, bool buying, uint256 amount) private returns (uint256 reached, uint256 given) {
        uint256 held = _balance(at.base, at.venue);
        uint256 mine = address(this).balance;
        if (buying) {
            if (at.kind == BOARDWALK) {
                given = IBoardwalkCurve(at.venue).buy{value: amount}(at.base, 0, address(this));
            } else if (at.kind == FOUR_MEME) {
                amount -= amount % 1e9;
                IFourMeme(at.venue).buyTokenAMAP{value: amount}(at.base, amount, 0);
            } else if (at.kind == FLAP) {
                given = IFlap(at.venue).swapExactInput{value: amount}(FlapOrder(address(0), at.base, amount, 0, ""));
            } else if (at.kind == PONS) {
                given = IPonsCurve(at.venue).buy{value: amount}(amount, 0, address(this));
            } else {
                revert("no such market");
            }
            // The curve's own word, or what it has less, whichever is more: a token may tax on either side of it.
            uint256 left = _balance(at.base, at.venue);
            if (held > left && held - left > given) given = held - left;
            return (amount, given);
        }
        _approve(at.base, at.venue, amount);
        if (at.kind == BOARDWALK) {
            IBoardwalkCurve(at.venue).sell(at.base, amount, 0, address(this));
        } else if (at.kind == FOUR_MEME) {
            IFourMeme(at.venue).sellToken(at.base, amount);
        } else if (at.kind == FLAP) {
            IFlap(at.venue).swapExactInput(FlapOrder(at.base, address(0), amount, 0, ""));
        } else if (at.kind == PONS) {
            IPonsCurve(at.venue).sell(amount, 0, address(this));
        } else {
            revert("no such market");
        }
        // A curve pays in the native coin, which nobody can tax.
        return (_balance(at.base, at.venue) - held, address(this).balance - mine);
    }

    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata data) external {
        _pay(amount0, amount1, data);
    }

    function pancakeV3SwapCallback(int256 amount0, int256 amount1, bytes calldata data) external {
        _pay(amount0, amount1, data);
    }

    function _pay(int256 amount0, int256 amount1, bytes calldata data) private {
        require(msg.sender == trading, "not the pool");
        _transfer(abi.decode(data, (address)), msg.sender, uint256(amount0 > 0 ? amount0 : amount1));
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        require(msg.sender == trading, "not the manager");
        (Market memory at, bool zeroForOne, uint256 amount) = abi.decode(data, (Market, bool, uint256));
        (address currency0, address currency1) = at.base < at.quote ? (at.base, at.quote) : (at.quote, at.base);
        int256 delta = IPoolManager(msg.sender).swap(
            PoolKey(currency0, currency1, at.feePips, at.tickSpacing, at.hooks),
            SwapOrder(zeroForOne, -int256(amount), zeroForOne ? LOWEST : HIGHEST),
            ""
        );
        (int256 owed, int256 due) = (int256(int128(delta >> 128)), int256(int128(delta)));
        if (!zeroForOne) (owed, due) = (due, owed);
        (address currencyIn, address currencyOut) = zeroForOne ? (currency0, currency1) : (currency1, currency0);
        (uint256 paid, uint256 given) = (uint256(-owed), uint256(due));
        if (currencyIn == address(0)) {
            IPoolManager(msg.sender).settle{value: paid}();
        } else {
            IPoolManager(msg.sender).sync(currencyIn);
            _transfer(currencyIn, msg.sender, paid);
            IPoolManager(msg.sender).settle();
        }
        IPoolManager(msg.sender).take(currencyOut, address(this), given);
        return abi.encode(paid, given);
    }

    // Calls whose answers are bounded, whatever the callee returns.

    function _stage(bytes memory data) private returns (bool ok, bytes memory out) {
        return _bounded(address(this), data, STAGE_GAS, KEPT_OF_STAGE);
    }

    /// _undone does a stage and takes it back. What comes out of the refusal is this contract's own words, whatever a token
    /// refused with.
    function _undone(bytes memory data) private returns (bool ok, bytes memory out) {
        (, out) = _stage(abi.encodeCall(this.undo, (data)));
        if (out.length == 0) return (false, ""); // not even the undoing was left enough gas
        return abi.decode(out, (bool, bytes));
    }

    function undo(bytes calldata data) external onlySelf {
        (bool ok, bytes memory out) = _bounded(address(this), data, gasleft(), KEPT);
        _refuse(abi.encode(ok, out));
    }

    function _bounded(address to, bytes memory data, uint256 gasLimit, uint256 most)
        private
        returns (bool ok, bytes memory out)
    {
        assembly ("memory-safe") {
            ok := call(gasLimit, to, 0, add(data, 32), mload(data), 0, 0)
            let size := returndatasize()
            if gt(size, most) { size := most }
            out := mload(0x40)
            mstore(out, size)
            returndatacopy(add(out, 32), 0, size)
            mstore(0x40, add(out, and(add(size, 63), not(31))))
        }
    }

    function _refuse(bytes memory reason) private pure {
        assembly ("memory-safe") {
            revert(add(reason, 32), mload(reason))
        }
    }

    /// _read is a view of one word; 0 where there is none.
    function _read(address to, bytes memory data) private view returns (uint256 value) {
        assembly ("memory-safe") {
            mstore(0, 0)
            let ok := staticcall(READ_GAS, to, add(data, 32), mload(data), 0, 32)
            if and(ok, gt(returndatasize(), 31)) { value := mload(0) }
        }
    }

    function _balance(address token, address account) private view returns (uint256) {
        if (token == address(0)) return account.balance;
        return _read(token, abi.encodeCall(IToken.balanceOf, (account)));
    }

    function _transfer(address token, address to, uint256 amount) private {
        _order(token, abi.encodeWithSignature("transfer(address,uint256)", to, amount));
    }

    function _approve(address token, address spender, uint256 amount) private {
        _order(token, abi.encodeWithSignature("approve(address,uint256)", spender, amount));
    }

    /// _order takes no answer for yes, as older tokens give none, and false for a refusal.
    function _order(address token, bytes memory data) private {
        (bool ok, bytes memory out) = _bounded(token, data, gasleft(), KEPT);
        if (!ok) _refuse(out);
        if (out.length > 31 && abi.decode(out, (uint256)) == 0) revert("answered false");
    }
}
