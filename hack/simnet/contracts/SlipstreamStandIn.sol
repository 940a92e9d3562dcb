// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {LiquidityMath} from "@uniswap/v4-core/src/libraries/LiquidityMath.sol";
import {SqrtPriceMath} from "@uniswap/v4-core/src/libraries/SqrtPriceMath.sol";
import {SwapMath} from "@uniswap/v4-core/src/libraries/SwapMath.sol";
import {TickBitmap} from "@uniswap/v4-core/src/libraries/TickBitmap.sol";
import {TickMath} from "@uniswap/v4-core/src/libraries/TickMath.sol";

import "./IERC20.sol";

// Stand-ins for Slipstream, the concentrated liquidity of Velodrome and Aerodrome, whose own contracts are in no package. They have
// the functions and events of Slipstream's factory and pool that callers and indexers use, in the same order within a transaction, on
// the arithmetic of Uniswap's libraries. They have no gauges, no oracle and no fees for those who provide: fees stay in the pool.

interface ISlipstreamCaller {
    function uniswapV3MintCallback(uint256 owed0, uint256 owed1, bytes calldata data) external;
    function uniswapV3SwapCallback(int256 delta0, int256 delta1, bytes calldata data) external;
}

/// One pool. The factory makes minimal proxies of a single one.
contract SlipstreamPoolStandIn {
    using TickBitmap for mapping(int16 => uint256);

    struct Slot0 {
        uint160 sqrtPriceX96;
        int24 tick;
        uint16 observationIndex;
        uint16 observationCardinality;
        uint16 observationCardinalityNext;
        bool unlocked;
    }

    struct Tick {
        uint128 liquidityGross;
        int128 liquidityNet;
        int128 stakedLiquidityNet;
        uint256 feeGrowthOutside0X128;
        uint256 feeGrowthOutside1X128;
        uint256 rewardGrowthOutsideX128;
        int56 tickCumulativeOutside;
        uint160 secondsPerLiquidityOutsideX128;
        uint32 secondsOutside;
        bool initialized;
    }

    struct Position {
        uint128 liquidity;
        uint256 feeGrowthInside0LastX128;
        uint256 feeGrowthInside1LastX128;
        uint128 tokensOwed0;
        uint128 tokensOwed1;
    }

    event Initialize(uint160 sqrtPriceX96, int24 tick);
    event Mint(
        address sender,
        address indexed owner,
        int24 indexed tickLower,
        int24 indexed tickUpper,
        uint128 amount,
        uint256 amount0,
        uint256 amount1
    );
    event Burn(
        address indexed owner,
        int24 indexed tickLower,
        int24 indexed tickUpper,
        uint128 amount,
        uint256 amount0,
        uint256 amount1
    );
    event Swap(
        address indexed sender,
        address indexed recipient,
        int256 amount0,
        int256 amount1,
        uint160 sqrtPriceX96,
        uint128 liquidity,
        int24 tick
    );

    address public factory;
    address public token0;
    address public token1;
    int24 public tickSpacing;
    Slot0 public slot0;
    uint128 public liquidity;
    mapping(int24 => Tick) public ticks;
    mapping(int16 => uint256) public tickBitmap;
    mapping(bytes32 => Position) public positions;

    modifier lock() {
        require(slot0.unlocked, "LOK");
        slot0.unlocked = false;
        _;
        slot0.unlocked = true;
    }

    /// The factory is who calls this first.
    function initialize(address token0_, address token1_, int24 tickSpacing_, uint160 sqrtPriceX96) external {
        require(factory == address(0), "initialized");
        (factory, token0, token1, tickSpacing) = (msg.sender, token0_, token1_, tickSpacing_);
        int24 tick = TickMath.getTickAtSqrtPrice(sqrtPriceX96);
        slot0 = Slot0(sqrtPriceX96, tick, 0, 1, 1, true);
        emit Initialize(sqrtPriceX96, tick);
    }

    function fee() public view returns (uint24) {
        return SlipstreamStandIn(factory).getSwapFee(address(this));
    }

    function mint(address recipient, int24 tickLower, int24 tickUpper, uint128 amount, bytes calldata data)
        external
        lock
        returns (uint256 amount0, uint256 amount1)
    {
        require(amount > 0, "no liquidity");
        (amount0, amount1) = change(recipient, tickLower, tickUpper, int128(amount));
        (uint256 before0, uint256 before1) = holdings();
        ISlipstreamCaller(msg.sender).uniswapV3MintCallback(amount0, amount1, data);
        (uint256 now0, uint256 now1) = holdings();
        require(now0 >= before0 + amount0 && now1 >= before1 + amount1, "not paid");
        emit Mint(msg.sender, recipient, tickLower, tickUpper, amount, amount0, amount1);
    }

    /// What it gives is owed to the position's owner until collect.
    function burn(int24 tickLower, int24 tickUpper, uint128 amount)
        external
        lock
        returns (uint256 amount0, uint256 amount1)
    {
        (amount0, amount1) = change(msg.sender, tickLower, tickUpper, -int128(amount));
        Position storage p = positions[positionKey(msg.sender, tickLower, tickUpper)];
        p.tokensOwed0 += uint128(amount0);
        p.tokensOwed1 += uint128(amount1);
        emit Burn(msg.sender, tickLower, tickUpper, amount, amount0, amount1);
    }

    function collect(address recipient, int24 tickLower, int24 tickUpper) external lock {
        Position storage p = positions[positionKey(msg.sender, tickLower, tickUpper)];
        (uint256 owed0, uint256 owed1) = (p.tokensOwed0, p.tokensOwed1);
        (p.tokensOwed0, p.tokensOwed1) = (0, 0);
        give(token0, recipient, owed0);
        give(token1, recipient, owed1);
    }

    function swap(
        address recipient,
        bool zeroForOne,
        int256 amountSpecified,
        uint160 sqrtPriceLimitX96,
        bytes calldata data
    ) external lock returns (int256 amount0, int256 amount1) {
        require(amountSpecified != 0, "AS");
        Slot0 memory start = slot0;
        require(
            zeroForOne
                ? sqrtPriceLimitX96 < start.sqrtPriceX96 && sqrtPriceLimitX96 > TickMath.MIN_SQRT_PRICE
                : sqrtPriceLimitX96 > start.sqrtPriceX96 && sqrtPriceLimitX96 < TickMath.MAX_SQRT_PRICE,
            "SPL"
        );
        (int256 rest, int256 other) = move(zeroForOne, amountSpecified, sqrtPriceLimitX96);
        (amount0, amount1) =
            zeroForOne == (amountSpecified > 0) ? (amountSpecified - rest, other) : (other, amountSpecified - rest);
        (uint256 before0, uint256 before1) = holdings();
        if (zeroForOne) give(token1, recipient, uint256(-amount1));
        else give(token0, recipient, uint256(-amount0));
        ISlipstreamCaller(msg.sender).uniswapV3SwapCallback(amount0, amount1, data);
        (uint256 now0, uint256 now1) = holdings();
        require(zeroForOne ? now0 >= before0 + uint256(amount0) : now1 >= before1 + uint256(amount1), "IIA");
        emit Swap(msg.sender, recipient, amount0, amount1, slot0.sqrtPriceX96, liquidity, slot0.tick);
    }

    /// Moves the price. rest is what is left of the amount, other the other token's amount, negative where the pool gives it.
    function move(bool zeroForOne, int256 amountSpecified, uint160 limit) private returns (int256 rest, int256 other) {
        rest = amountSpecified;
        (uint160 price, int24 tick, uint128 active) = (slot0.sqrtPriceX96, slot0.tick, liquidity);
        while (rest != 0 && price != limit) {
            (int24 next, bool initialized) = tickBitmap.nextInitializedTickWithinOneWord(tick, tickSpacing, zeroForOne);
            if (next < TickMath.MIN_TICK) next = TickMath.MIN_TICK;
            if (next > TickMath.MAX_TICK) next = TickMath.MAX_TICK;
            uint160 priceAtNext = TickMath.getSqrtPriceAtTick(next);
            uint160 reached;
            {
                uint256 amountIn;
                uint256 amountOut;
                uint256 feeAmount;
                // The library counts the exact amount that goes in as negative.
                (reached, amountIn, amountOut, feeAmount) = SwapMath.computeSwapStep(
                    price, SwapMath.getSqrtPriceTarget(zeroForOne, priceAtNext, limit), active, -rest, fee()
                );
                if (amountSpecified > 0) {
                    rest -= int256(amountIn + feeAmount);
                    other -= int256(amountOut);
                } else {
                    rest += int256(amountOut);
                    other += int256(amountIn + feeAmount);
                }
            }
            if (reached == priceAtNext) {
                if (initialized) {
                    int128 net = ticks[next].liquidityNet;
                    active = LiquidityMath.addDelta(active, zeroForOne ? -net : net);
                }
                tick = zeroForOne ? next - 1 : next;
            } else if (reached != price) {
                tick = TickMath.getTickAtSqrtPrice(reached);
            }
            price = reached;
        }
        (slot0.sqrtPriceX96, slot0.tick, liquidity) = (price, tick, active);
    }

    /// Changes a position. What goes in is rounded up, what comes out down.
    function change(address owner, int24 tickLower, int24 tickUpper, int128 delta)
        private
        returns (uint256 amount0, uint256 amount1)
    {
        require(tickLower < tickUpper && tickLower >= TickMath.MIN_TICK && tickUpper <= TickMath.MAX_TICK, "ticks");
        Position storage p = positions[positionKey(owner, tickLower, tickUpper)];
        p.liquidity = LiquidityMath.addDelta(p.liquidity, delta);
        changeTick(tickLower, delta, delta);
        changeTick(tickUpper, delta, -delta);
        (uint160 price, uint160 low, uint160 high) = (
            slot0.sqrtPriceX96, TickMath.getSqrtPriceAtTick(tickLower), TickMath.getSqrtPriceAtTick(tickUpper)
        );
        (uint128 size, bool up) = (uint128(delta < 0 ? -delta : delta), delta > 0);
        if (slot0.tick < tickLower) {
            amount0 = SqrtPriceMath.getAmount0Delta(low, high, size, up);
        } else if (slot0.tick < tickUpper) {
            amount0 = SqrtPriceMath.getAmount0Delta(price, high, size, up);
            amount1 = SqrtPriceMath.getAmount1Delta(low, price, size, up);
            liquidity = LiquidityMath.addDelta(liquidity, delta);
        } else {
            amount1 = SqrtPriceMath.getAmount1Delta(low, high, size, up);
        }
    }

    function changeTick(int24 tick, int128 gross, int128 net) private {
        Tick storage t = ticks[tick];
        bool was = t.initialized;
        t.liquidityGross = LiquidityMath.addDelta(t.liquidityGross, gross);
        t.liquidityNet += net;
        t.initialized = t.liquidityGross > 0;
        if (t.initialized != was) tickBitmap.flipTick(tick, tickSpacing);
    }

    function positionKey(address owner, int24 tickLower, int24 tickUpper) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(owner, tickLower, tickUpper));
    }

    function holdings() private view returns (uint256, uint256) {
        return (IERC20(token0).balanceOf(address(this)), IERC20(token1).balanceOf(address(this)));
    }

    function give(address token, address to, uint256 amount) private {
        if (amount > 0) require(IERC20(token).transfer(to, amount), "not given");
    }
}

/// The factory. Its fees change by themselves: a spacing's own fee, and up to three quarters of it more from hour to hour.
contract SlipstreamStandIn {
    event PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool);

    address public immutable poolImplementation;
    mapping(int24 => uint24) public tickSpacingToFee;
    mapping(address => mapping(address => mapping(int24 => address))) public getPool;

    constructor() {
        poolImplementation = address(new SlipstreamPoolStandIn());
        tickSpacingToFee[1] = 100;
        tickSpacingToFee[50] = 500;
        tickSpacingToFee[100] = 500;
        tickSpacingToFee[200] = 3_000;
        tickSpacingToFee[2_000] = 10_000;
    }

    function createPool(address tokenA, address tokenB, int24 tickSpacing, uint160 sqrtPriceX96)
        external
        returns (address pool)
    {
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        require(token0 != address(0) && token0 != token1, "tokens");
        require(tickSpacingToFee[tickSpacing] != 0, "spacing");
        require(getPool[token0][token1][tickSpacing] == address(0), "there is one");
        pool = clone(poolImplementation, keccak256(abi.encode(token0, token1, tickSpacing)));
        SlipstreamPoolStandIn(pool).initialize(token0, token1, tickSpacing, sqrtPriceX96);
        getPool[token0][token1][tickSpacing] = pool;
        getPool[token1][token0][tickSpacing] = pool;
        emit PoolCreated(token0, token1, tickSpacing, pool);
    }

    function getSwapFee(address pool) external view returns (uint24) {
        uint256 own = tickSpacingToFee[SlipstreamPoolStandIn(pool).tickSpacing()];
        return uint24(own + own * ((block.timestamp / 1 hours) % 4) / 4);
    }

    /// A minimal proxy of a contract (EIP-1167).
    function clone(address target, bytes32 salt) private returns (address made) {
        bytes memory code = abi.encodePacked(
            hex"3d602d80600a3d3981f3363d3d373d3d3d363d73", target, hex"5af43d82803e903d91602b57fd5bf3"
        );
        assembly ("memory-safe") {
            made := create2(0, add(code, 32), mload(code), salt)
        }
        require(made != address(0), "not created");
    }
}

/// Lets people trade and provide liquidity on a stand-in.
contract SlipstreamRouter {
    SlipstreamStandIn private immutable factory;

    /// Who pays, and what makes sure that only a pool asks for it.
    struct Debt {
        address token0;
        address token1;
        int24 tickSpacing;
        address payer;
    }

    constructor(SlipstreamStandIn factory_) {
        factory = factory_;
    }

    /// Opens a position of the caller.
    function mint(address token0, address token1, int24 tickSpacing, int24 tickLower, int24 tickUpper, uint128 amount)
        external
    {
        SlipstreamPoolStandIn(factory.getPool(token0, token1, tickSpacing)).mint(
            msg.sender, tickLower, tickUpper, amount, abi.encode(Debt(token0, token1, tickSpacing, msg.sender))
        );
    }

    /// Swaps an exact amount of one token for as much of the other as there is for it.
    function swap(address tokenIn, address tokenOut, int24 tickSpacing, uint256 amountIn, address recipient)
        external
    {
        swapTo(tokenIn, tokenOut, tickSpacing, amountIn, recipient,
            tokenIn < tokenOut ? TickMath.MIN_SQRT_PRICE + 1 : TickMath.MAX_SQRT_PRICE - 1);
    }

    /// The same, but only as far as a price; returns what the recipient gets.
    function swapTo(
        address tokenIn,
        address tokenOut,
        int24 tickSpacing,
        uint256 amountIn,
        address recipient,
        uint160 limit
    ) public returns (uint256 given) {
        bool zeroForOne = tokenIn < tokenOut;
        (address token0, address token1) = zeroForOne ? (tokenIn, tokenOut) : (tokenOut, tokenIn);
        (int256 amount0, int256 amount1) = SlipstreamPoolStandIn(factory.getPool(tokenIn, tokenOut, tickSpacing)).swap(
            recipient, zeroForOne, int256(amountIn), limit, abi.encode(Debt(token0, token1, tickSpacing, msg.sender))
        );
        return uint256(zeroForOne ? -amount1 : -amount0);
    }

    function uniswapV3MintCallback(uint256 owed0, uint256 owed1, bytes calldata data) external {
        pay(owed0, owed1, abi.decode(data, (Debt)));
    }

    function uniswapV3SwapCallback(int256 delta0, int256 delta1, bytes calldata data) external {
        pay(delta0 > 0 ? uint256(delta0) : 0, delta1 > 0 ? uint256(delta1) : 0, abi.decode(data, (Debt)));
    }

    function pay(uint256 owed0, uint256 owed1, Debt memory debt) private {
        require(msg.sender == factory.getPool(debt.token0, debt.token1, debt.tickSpacing), "not a pool");
        if (owed0 > 0) require(IERC20(debt.token0).transferFrom(debt.payer, msg.sender, owed0), "not paid");
        if (owed1 > 0) require(IERC20(debt.token1).transferFrom(debt.payer, msg.sender, owed1), "not paid");
    }
}
