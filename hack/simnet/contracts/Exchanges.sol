// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import "./IERC20.sol";

// The parts of the exchanges that launch venues call. The exchanges themselves come from npm.

interface IWrapped is IERC20 {
    function deposit() external payable;
}

interface IV2Factory {
    function getPair(address tokenA, address tokenB) external view returns (address);
    function createPair(address tokenA, address tokenB) external returns (address);
}

interface IV2Pair {
    function mint(address to) external returns (uint256 liquidity);
}

struct V3Mint {
    address token0;
    address token1;
    uint24 fee;
    int24 tickLower;
    int24 tickUpper;
    uint256 amount0Desired;
    uint256 amount1Desired;
    uint256 amount0Min;
    uint256 amount1Min;
    address recipient;
    uint256 deadline;
}

interface IV3Positions {
    function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96)
        external
        payable
        returns (address pool);
    function mint(V3Mint calldata order)
        external
        payable
        returns (uint256 positionId, uint128 liquidity, uint256 amount0, uint256 amount1);
}

/// What graduation and live pools compute.
library PoolMath {
    /// The square root of amount1 / amount0 as Q64.96, for amounts below 2^96 and a ratio above 2^-96. It is exact to 2^-64.
    function sqrtPriceX96(uint256 amount0, uint256 amount1) internal pure returns (uint160) {
        return uint160(root((amount1 << 160) / amount0) << 16);
    }

    /// The integer square root, by Newton's method from above.
    function root(uint256 n) internal pure returns (uint256 r) {
        if (n == 0) return 0;
        r = 1;
        for (uint256 rest = n; rest > 0; rest >>= 2) r <<= 1;
        while (true) {
            uint256 next = (r + n / r) >> 1;
            if (next >= r) return r;
            r = next;
        }
    }

    function ceilDiv(uint256 a, uint256 b) internal pure returns (uint256) {
        return a == 0 ? 0 : (a - 1) / b + 1;
    }
}
