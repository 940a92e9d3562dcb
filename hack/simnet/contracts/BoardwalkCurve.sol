// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import "./Exchanges.sol";
import "./UniswapV4.sol";

/// @title The token of a Boardwalk launch
/// @notice A plain ERC-20. Whoever creates it holds the whole supply at first. It has no owner; nobody can make more of it,
/// stop its transfers or take from them. All of them have the same runtime code.
contract BoardwalkToken {
    string public name;
    string public symbol;
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 1_000_000_000e18;
    /// @notice Nobody, as if ownership had been renounced.
    address public constant owner = address(0);
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory name_, string memory symbol_) {
        (name, symbol) = (name_, symbol_);
        balanceOf[msg.sender] = totalSupply;
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        move(from, to, value);
        return true;
    }

    function move(address from, address to, uint256 value) private {
        require(to != address(0), "no recipient");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// @title Boardwalk's bonding curves
/// @notice The reference contract of the family. It holds every curve of its chain. A launch makes a token of 1,000,000,000
/// and sells 793,100,000 of it for the native coin along a constant product of virtual reserves. When all are sold the curve is
/// complete and takes no more trades; then anyone may graduate it: what was raised and the 206,900,000 that were kept go into
/// a Uniswap V4 pool over the whole range, without hook, whose position this contract holds for good.
/// @dev virtualBase * virtualQuote is never below their product at launch: whatever a division leaves is the curve's. The
/// product is not raised by roundings either, so that every curve has raised exactly targetQuote when it is complete.
contract BoardwalkCurve {
    using PoolMath for uint256;

    struct Curve {
        uint128 virtualBase;
        uint128 virtualQuote;
        bool completed;
        bytes32 pool;
    }

    uint256 public constant INITIAL_VIRTUAL_BASE = 1_073_000_000e18;
    /// @notice What a curve sells.
    uint256 public constant SALE_BASE = 793_100_000e18;
    /// @notice What a curve keeps for the pool.
    uint256 public constant POOL_BASE = 1_000_000_000e18 - SALE_BASE;
    /// @notice The fee of each trade: of what a buyer gives, of what a seller would get.
    uint16 public constant FEE_BPS = 100;
    uint256 private constant LAST_VIRTUAL_BASE = INITIAL_VIRTUAL_BASE - SALE_BASE;
    uint256 private constant BPS = 10_000;

    uint24 private constant POOL_FEE = 3000;
    int24 private constant TICK_SPACING = 60;
    int24 private constant LAST_TICK = 887220; // the last multiple of the spacing in V4's range
    uint256 private constant POOLS_SLOT = 6; // of the PoolManager's mapping of pools
    address private constant DEAD = 0x000000000000000000000000000000000000dEaD;

    uint256 private constant MAX_NAME = 128;
    uint256 private constant MAX_SYMBOL = 32;
    uint256 private constant MAX_METADATA = 8192;

    IPoolManager public immutable manager;
    uint256 public immutable initialVirtualQuote;
    /// @notice What a complete curve has raised, net of fees.
    uint256 public immutable targetQuote;
    uint256 private immutable product;

    address public owner;
    address public pendingOwner;
    address public feeRecipient;
    /// @notice Fees that withdrawFees will send.
    uint256 public feesOwed;
    /// @notice While true there are no launches and no buys. Sales and graduations go on.
    bool public paused;
    mapping(address => Curve) private curveOf;
    bool private busy;

    /// @notice A launch. quote is 0 for the native coin; saleBase is what the curve sells, targetQuote what it raises net of fees.
    event TokenLaunched(
        address indexed token,
        address indexed creator,
        string name,
        string symbol,
        string metadata,
        address quote,
        uint256 virtualBase,
        uint256 virtualQuote,
        uint256 saleBase,
        uint256 targetQuote,
        uint16 feeBps
    );
    /// @notice A trade. trader is who got the tokens of a buy, or who sold. quoteAmount is what he gave, fee included, or what
    /// he got, less the fee. The reserves are those after the trade; realBase is left for sale and realQuote raised.
    event CurveTrade(
        address indexed token,
        address indexed trader,
        bool sell,
        uint256 baseAmount,
        uint256 quoteAmount,
        uint256 fee,
        uint256 virtualBase,
        uint256 virtualQuote,
        uint256 realBase,
        uint256 realQuote
    );
    event CurveCompleted(address indexed token, uint256 realQuote);
    /// @notice pool is the id of a Uniswap V4 pool; the amounts are what its first position took.
    event TokenGraduated(address indexed token, bytes32 indexed pool, uint256 baseAmount, uint256 quoteAmount);
    event Paused(bool paused);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);
    event FeeRecipientChanged(address feeRecipient);

    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }

    /// Nothing here can be entered while something else here runs.
    modifier alone() {
        require(!busy, "busy");
        busy = true;
        _;
        busy = false;
    }

    /// @param initialVirtualQuote_ is the virtual quote of a fresh curve. A curve raises 2.8335 times as much.
    constructor(IPoolManager manager_, uint256 initialVirtualQuote_, address feeRecipient_) {
        require(initialVirtualQuote_ > 0 && initialVirtualQuote_ < 2 ** 88, "bad virtual quote");
        require(feeRecipient_ != address(0), "no fee recipient");
        (manager, initialVirtualQuote) = (manager_, initialVirtualQuote_);
        product = INITIAL_VIRTUAL_BASE * initialVirtualQuote_;
        targetQuote = product.ceilDiv(LAST_VIRTUAL_BASE) - initialVirtualQuote_;
        (owner, feeRecipient) = (msg.sender, feeRecipient_);
        emit OwnershipTransferred(address(0), msg.sender);
    }

    /// Takes fees of pools.
    receive() external payable {
        require(msg.sender == address(manager), "not the manager");
    }

    /// @notice Makes a token and its curve. What is sent along buys from it for the creator at once.
    /// @param metadata is a URI of the token's description, or the description itself as JSON. It is kept in the log alone.
    function launch(string calldata name, string calldata symbol, string calldata metadata)
        external
        payable
        alone
        returns (address token)
    {
        require(!paused, "paused");
        require(bytes(name).length > 0 && bytes(name).length <= MAX_NAME, "bad name");
        require(bytes(symbol).length > 0 && bytes(symbol).length <= MAX_SYMBOL, "bad symbol");
        require(bytes(metadata).length <= MAX_METADATA, "metadata too long");
        token = address(new BoardwalkToken(name, symbol));
        Curve storage c = curveOf[token];
        (c.virtualBase, c.virtualQuote) = (uint128(INITIAL_VIRTUAL_BASE), uint128(initialVirtualQuote));
        emit TokenLaunched(
            token,
            msg.sender,
            name,
            symbol,
            metadata,
            address(0),
            INITIAL_VIRTUAL_BASE,
            initialVirtualQuote,
            SALE_BASE,
            targetQuote,
            FEE_BPS
        );
        if (msg.value > 0) purchase(token, 0, msg.sender);
    }

    /// @notice Buys for what is sent along, at least minBase. The last buy is clipped to what is left, and the rest comes back.
    function buy(address token, uint256 minBase, address recipient) external payable alone returns (uint256 baseAmount) {
        require(!paused, "paused");
        return purchase(token, minBase, recipient);
    }

    /// @notice Sells tokens, which the caller must have approved, for at least minQuote after the fee.
    function sell(address token, uint256 baseAmount, uint256 minQuote, address recipient)
        external
        alone
        returns (uint256 quoteAmount)
    {
        Curve storage c = trading(token);
        uint256 virtualBase = c.virtualBase + baseAmount;
        require(virtualBase <= INITIAL_VIRTUAL_BASE, "more than was sold");
        uint256 virtualQuote = product.ceilDiv(virtualBase);
        uint256 gross = c.virtualQuote - virtualQuote;
        uint256 fee = (gross * FEE_BPS).ceilDiv(BPS);
        quoteAmount = gross - fee;
        require(quoteAmount > 0 && quoteAmount >= minQuote, "too little quote");
        feesOwed += fee;
        settle(c, token, msg.sender, true, baseAmount, quoteAmount, fee, virtualBase, virtualQuote);
        require(BoardwalkToken(token).transferFrom(msg.sender, address(this), baseAmount), "not paid");
        pay(recipient, quoteAmount);
    }

    /// @notice Moves a complete curve's funds and the tokens that were kept into a pool. Anyone may call it, once.
    function graduate(address token) external alone {
        Curve storage c = curveOf[token];
        require(c.completed, "not complete");
        require(c.pool == 0, "graduated");
        bytes32 pool = keccak256(abi.encode(keyOf(token)));
        c.pool = pool;
        bytes memory answer = manager.unlock(abi.encode(token, true));
        (uint256 baseAmount, uint256 quoteAmount) = abi.decode(answer, (uint256, uint256));
        emit TokenGraduated(token, pool, baseAmount, quoteAmount);
    }

    /// @notice Collects what the position of a graduated token has earned: tokens go to the fee recipient, coins with the next
    /// withdrawFees. The position stays whole.
    function collectPoolFees(address token) external alone {
        require(curveOf[token].pool != 0, "not graduated");
        manager.unlock(abi.encode(token, false));
    }

    /// @notice Sends the fees to the fee recipient.
    function withdrawFees() external alone {
        uint256 amount = feesOwed;
        feesOwed = 0;
        pay(feeRecipient, amount);
    }

    /// @notice A curve's state; all zero for a token that wasn't launched here. After completion the reserves stay as they were then.
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
        (realBase, realQuote) = (virtualBase - LAST_VIRTUAL_BASE, virtualQuote - initialVirtualQuote);
    }

    function setPaused(bool paused_) external onlyOwner {
        paused = paused_;
        emit Paused(paused_);
    }

    function setFeeRecipient(address feeRecipient_) external onlyOwner {
        require(feeRecipient_ != address(0), "no fee recipient");
        feeRecipient = feeRecipient_;
        emit FeeRecipientChanged(feeRecipient_);
    }

    /// @notice Offers ownership, which is taken by acceptOwnership.
    function transferOwnership(address newOwner) external onlyOwner {
        pendingOwner = newOwner;
    }

    function acceptOwnership() external {
        require(msg.sender == pendingOwner, "not offered");
        emit OwnershipTransferred(owner, msg.sender);
        (owner, pendingOwner) = (msg.sender, address(0));
    }

    function trading(address token) private view returns (Curve storage c) {
        c = curveOf[token];
        require(c.virtualBase != 0, "no such curve");
        require(!c.completed, "complete");
    }

    function purchase(address token, uint256 minBase, address recipient) private returns (uint256 baseAmount) {
        Curve storage c = trading(token);
        uint256 spent = msg.value;
        uint256 fee = (spent * FEE_BPS).ceilDiv(BPS);
        uint256 virtualQuote = c.virtualQuote + spent - fee;
        uint256 virtualBase = product.ceilDiv(virtualQuote);
        if (virtualBase <= LAST_VIRTUAL_BASE) {
            virtualBase = LAST_VIRTUAL_BASE;
            virtualQuote = initialVirtualQuote + targetQuote;
            uint256 net = virtualQuote - c.virtualQuote;
            spent = (net * BPS).ceilDiv(BPS - FEE_BPS);
            fee = spent - net;
        }
        baseAmount = c.virtualBase - virtualBase;
        require(baseAmount > 0 && baseAmount >= minBase, "too few tokens");
        feesOwed += fee;
        settle(c, token, recipient, false, baseAmount, spent, fee, virtualBase, virtualQuote);
        require(BoardwalkToken(token).transfer(recipient, baseAmount), "not sent");
        if (msg.value > spent) pay(msg.sender, msg.value - spent);
    }

    /// Keeps the reserves and tells of the trade.
    function settle(
        Curve storage c,
        address token,
        address trader,
        bool sold,
        uint256 baseAmount,
        uint256 quoteAmount,
        uint256 fee,
        uint256 virtualBase,
        uint256 virtualQuote
    ) private {
        (c.virtualBase, c.virtualQuote) = (uint128(virtualBase), uint128(virtualQuote));
        uint256 realBase = virtualBase - LAST_VIRTUAL_BASE;
        uint256 realQuote = virtualQuote - initialVirtualQuote;
        emit CurveTrade(token, trader, sold, baseAmount, quoteAmount, fee, virtualBase, virtualQuote, realBase, realQuote);
        if (realBase == 0) {
            c.completed = true;
            emit CurveCompleted(token, realQuote);
        }
    }

    function pay(address to, uint256 amount) private {
        (bool sent,) = to.call{value: amount}("");
        require(sent, "payment refused");
    }

    function keyOf(address token) private pure returns (PoolKey memory) {
        return PoolKey(address(0), token, POOL_FEE, TICK_SPACING, address(0));
    }

    /// What the PoolManager calls from unlock.
    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        require(msg.sender == address(manager), "not the manager");
        (address token, bool graduates) = abi.decode(data, (address, bool));
        return graduates ? openPool(token) : collect(token);
    }

    /// Anyone may have opened the pool before, at any price. Then it is first brought to the price that the funds make: what
    /// that costs was offered at a better price. What the position can't take of the coins is a fee, and tokens are burned.
    function openPool(address token) private returns (bytes memory) {
        PoolKey memory key = keyOf(token);
        (int256 quote, int256 base) = (int256(targetQuote), int256(POOL_BASE)); // what is left of them
        uint160 target = PoolMath.sqrtPriceX96(uint256(quote), uint256(base));
        uint160 price = priceOf(key);
        if (price == 0) {
            manager.initialize(key, target);
        } else if (price != target) {
            bool down = price > target;
            int256 moved = manager.swap(key, SwapOrder(down, down ? -quote : -base, target), "");
            (quote, base) = (quote + (moved >> 128), base + int128(moved));
        }
        price = priceOf(key);
        // Slightly less than the amounts allow, as the range is nearly endless.
        uint256 liquidity = (uint256(quote) * price) >> 96;
        uint256 other = (uint256(base) << 96) / price;
        if (other < liquidity) liquidity = other;
        (int256 added,) =
            manager.modifyLiquidity(key, LiquidityChange(-LAST_TICK, LAST_TICK, int256(liquidity), bytes32(0)), "");
        (quote, base) = (quote + (added >> 128), base + int128(added));

        even(address(0), quote - int256(targetQuote));
        even(token, base - int256(POOL_BASE));
        feesOwed += uint256(quote);
        require(BoardwalkToken(token).transfer(DEAD, uint256(base)), "not burned");
        return abi.encode(uint256(-int256(int128(added))), uint256(-(added >> 128)));
    }

    function collect(address token) private returns (bytes memory) {
        (int256 earned,) =
            manager.modifyLiquidity(keyOf(token), LiquidityChange(-LAST_TICK, LAST_TICK, 0, bytes32(0)), "");
        (uint256 quote, uint256 base) = (uint256(earned >> 128), uint256(int256(int128(earned))));
        feesOwed += quote;
        if (quote > 0) manager.take(address(0), address(this), quote);
        if (base > 0) manager.take(token, feeRecipient, base);
        return "";
    }

    /// Takes what the manager owes, or pays what it is owed.
    function even(address currency, int256 amount) private {
        if (amount > 0) {
            manager.take(currency, address(this), uint256(amount));
        } else if (amount < 0 && currency == address(0)) {
            manager.settle{value: uint256(-amount)}();
        } else if (amount < 0) {
            manager.sync(currency);
            require(BoardwalkToken(currency).transfer(address(manager), uint256(-amount)), "not paid");
            manager.settle();
        }
    }

    /// The pool's square root price as Q64.96, 0 before it is opened. Slot 0 of a pool has it in its lower 160 bits.
    function priceOf(PoolKey memory key) private view returns (uint160) {
        bytes32 slot = keccak256(abi.encode(keccak256(abi.encode(key)), POOLS_SLOT));
        return uint160(uint256(manager.extsload(slot)));
    }
}
