// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import "./IERC20.sol";

// Stand-ins for the older pools of Velodrome V2 and Aerodrome, whose own contracts are in no package. They have the functions and
// events of that factory and its pools that callers and indexers use. They have no gauges: fees go to an account that nobody has.

/// One pool: constant product, or x³y+y³x=k where stable.
contract SolidlyPoolStandIn {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Sync(uint256 reserve0, uint256 reserve1);
    event Mint(address indexed sender, uint256 amount0, uint256 amount1);
    event Swap(
        address indexed sender,
        address indexed to,
        uint256 amount0In,
        uint256 amount1In,
        uint256 amount0Out,
        uint256 amount1Out
    );

    string public constant name = "Stand-in liquidity";
    string public constant symbol = "SALP";
    uint8 public constant decimals = 18;
    uint256 private constant LOCKED = 1000; // as on Uniswap V2, so that shares stay cheap

    address public immutable factory;
    address public immutable token0;
    address public immutable token1;
    bool public immutable stable;
    /// Where fees go, at once.
    address public immutable poolFees;
    uint256 private immutable unit0;
    uint256 private immutable unit1;
    uint256 public reserve0;
    uint256 public reserve1;
    uint256 private changedAt;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    constructor(address token0_, address token1_, bool stable_) {
        (factory, token0, token1, stable) = (msg.sender, token0_, token1_, stable_);
        poolFees = address(uint160(uint256(keccak256(abi.encode("fees of", token0_, token1_, stable_)))));
        unit0 = 10 ** IDecimals(token0_).decimals();
        unit1 = 10 ** IDecimals(token1_).decimals();
    }

    function getReserves() external view returns (uint256, uint256, uint256) {
        return (reserve0, reserve1, changedAt);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }

    /// Gives shares for what was sent here since the last change.
    function mint(address to) external returns (uint256 shares) {
        (uint256 now0, uint256 now1) = holdings();
        (uint256 amount0, uint256 amount1) = (now0 - reserve0, now1 - reserve1);
        if (totalSupply == 0) {
            shares = root(amount0 * amount1) - LOCKED;
            give(address(0), LOCKED);
        } else {
            shares = min(amount0 * totalSupply / reserve0, amount1 * totalSupply / reserve1);
        }
        require(shares > 0, "no shares");
        give(to, shares);
        update(now0, now1);
        emit Mint(msg.sender, amount0, amount1);
    }

    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256) {
        return amountOut(amountIn - amountIn * SolidlyStandIn(factory).getFee(address(this), stable) / 10_000, tokenIn);
    }

    function amountOut(uint256 amountIn, address tokenIn) private view returns (uint256) {
        (uint256 reserveIn, uint256 reserveOut) = tokenIn == token0 ? (reserve0, reserve1) : (reserve1, reserve0);
        if (!stable) return amountIn * reserveOut / (reserveIn + amountIn);
        (uint256 unitIn, uint256 unitOut) = tokenIn == token0 ? (unit0, unit1) : (unit1, unit0);
        uint256 y = reserveOut * 1e18 / unitOut;
        uint256 after_ = solve((reserveIn + amountIn) * 1e18 / unitIn, invariant(reserve0, reserve1), y);
        return after_ < y ? (y - after_) * unitOut / 1e18 : 0;
    }

    /// One of the amounts is 0. What goes in was sent here before.
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata) external {
        require(amount0Out < reserve0 && amount1Out < reserve1, "too much");
        if (amount0Out > 0) require(IERC20(token0).transfer(to, amount0Out), "not given");
        if (amount1Out > 0) require(IERC20(token1).transfer(to, amount1Out), "not given");
        (uint256 now0, uint256 now1) = holdings();
        uint256 in0 = now0 > reserve0 - amount0Out ? now0 - (reserve0 - amount0Out) : 0;
        uint256 in1 = now1 > reserve1 - amount1Out ? now1 - (reserve1 - amount1Out) : 0;
        require(in0 > 0 || in1 > 0, "nothing came in");
        uint256 fee = SolidlyStandIn(factory).getFee(address(this), stable);
        if (in0 > 0) require(IERC20(token0).transfer(poolFees, in0 * fee / 10_000), "no fee");
        if (in1 > 0) require(IERC20(token1).transfer(poolFees, in1 * fee / 10_000), "no fee");
        (now0, now1) = holdings();
        require(invariant(now0, now1) >= invariant(reserve0, reserve1), "K");
        update(now0, now1);
        emit Swap(msg.sender, to, in0, in1, amount0Out, amount1Out);
    }

    function invariant(uint256 x, uint256 y) private view returns (uint256) {
        if (!stable) return x * y;
        return cubic(x * 1e18 / unit0, y * 1e18 / unit1);
    }

    function cubic(uint256 x, uint256 y) private pure returns (uint256) {
        return (x * y / 1e18) * (x * x / 1e18 + y * y / 1e18) / 1e18;
    }

    /// The y from which on x and y have the invariant, rounded up, by halving [0, high].
    function solve(uint256 x, uint256 k, uint256 high) private pure returns (uint256) {
        uint256 low = 0;
        while (low < high) {
            uint256 middle = (low + high) / 2;
            if (cubic(x, middle) < k) low = middle + 1;
            else high = middle;
        }
        return high + 1;
    }

    function update(uint256 now0, uint256 now1) private {
        (reserve0, reserve1, changedAt) = (now0, now1, block.timestamp);
        emit Sync(now0, now1);
    }

    function give(address to, uint256 shares) private {
        totalSupply += shares;
        balanceOf[to] += shares;
        emit Transfer(address(0), to, shares);
    }

    function holdings() private view returns (uint256, uint256) {
        return (IERC20(token0).balanceOf(address(this)), IERC20(token1).balanceOf(address(this)));
    }

    function min(uint256 a, uint256 b) private pure returns (uint256) {
        return a < b ? a : b;
    }

    /// The integer square root, by Newton's method from above.
    function root(uint256 n) private pure returns (uint256 r) {
        if (n == 0) return 0;
        r = 1;
        for (uint256 rest = n; rest > 0; rest >>= 2) r <<= 1;
        while (true) {
            uint256 next = (r + n / r) >> 1;
            if (next >= r) return r;
            r = next;
        }
    }
}

interface IDecimals {
    function decimals() external view returns (uint8);
}

/// The factory.
contract SolidlyStandIn {
    event PoolCreated(
        address indexed token0, address indexed token1, bool indexed stable, address pool, uint256 count
    );

    mapping(address => mapping(address => mapping(bool => address))) public getPool;
    address[] public allPools;

    function allPoolsLength() external view returns (uint256) {
        return allPools.length;
    }

    /// In hundredths of a percent.
    function getFee(address, bool stable) external pure returns (uint256) {
        return stable ? 5 : 30;
    }

    function createPool(address tokenA, address tokenB, bool stable) external returns (address pool) {
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        require(token0 != address(0) && token0 != token1, "tokens");
        require(getPool[token0][token1][stable] == address(0), "there is one");
        pool = address(new SolidlyPoolStandIn(token0, token1, stable));
        getPool[token0][token1][stable] = pool;
        getPool[token1][token0][stable] = pool;
        allPools.push(pool);
        emit PoolCreated(token0, token1, stable, pool, allPools.length);
    }
}

/// Lets people trade and provide liquidity on a stand-in.
contract SolidlyRouter {
    SolidlyStandIn private immutable factory;

    constructor(SolidlyStandIn factory_) {
        factory = factory_;
    }

    /// Puts amounts into a pool, which is made where there is none.
    function add(address tokenA, address tokenB, bool stable, uint256 amountA, uint256 amountB) external {
        address pool = factory.getPool(tokenA, tokenB, stable);
        if (pool == address(0)) pool = factory.createPool(tokenA, tokenB, stable);
        require(IERC20(tokenA).transferFrom(msg.sender, pool, amountA), "not paid");
        require(IERC20(tokenB).transferFrom(msg.sender, pool, amountB), "not paid");
        SolidlyPoolStandIn(pool).mint(msg.sender);
    }

    /// Swaps an exact amount of one token for as much of the other as there is for it.
    function swap(address tokenIn, address tokenOut, bool stable, uint256 amountIn, address recipient) external {
        SolidlyPoolStandIn pool = SolidlyPoolStandIn(factory.getPool(tokenIn, tokenOut, stable));
        uint256 given = pool.getAmountOut(amountIn, tokenIn);
        require(IERC20(tokenIn).transferFrom(msg.sender, address(pool), amountIn), "not paid");
        (uint256 amount0, uint256 amount1) = tokenIn < tokenOut ? (uint256(0), given) : (given, uint256(0));
        pool.swap(amount0, amount1, recipient, "");
    }
}
