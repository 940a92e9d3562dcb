// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import "./IERC20.sol";

// The parts of PancakeSwap V3 that its package leaves out. Factory and pools come from npm.

/// What the factory asks for new pools. The pool's creation code lies in a contract of its own, as
/// it is too long for this one's.
contract PancakeDeployer {
    struct Parameters {
        address factory;
        address token0;
        address token1;
        uint24 fee;
        int24 tickSpacing;
    }

    /// Read by a pool while it is created.
    Parameters public parameters;
    address private immutable poolCode;

    constructor(address poolCode_) {
        poolCode = poolCode_;
    }

    function deploy(address factory, address token0, address token1, uint24 fee, int24 tickSpacing)
        external
        returns (address pool)
    {
        require(msg.sender == factory, "not the factory");
        parameters = Parameters(factory, token0, token1, fee, tickSpacing);
        bytes memory code = poolCode.code;
        bytes32 salt = keccak256(abi.encode(token0, token1, fee));
        assembly ("memory-safe") {
            pool := create2(0, add(code, 32), mload(code), salt)
        }
        require(pool != address(0), "not created");
        delete parameters;
    }
}

interface IPancakeFactory {
    function createPool(address tokenA, address tokenB, uint24 fee) external returns (address);
    function getPool(address tokenA, address tokenB, uint24 fee) external view returns (address);
}

interface IPancakePool {
    function initialize(uint160 sqrtPriceX96) external;
    function mint(address recipient, int24 tickLower, int24 tickUpper, uint128 amount, bytes calldata data)
        external
        returns (uint256 amount0, uint256 amount1);
    function swap(
        address recipient,
        bool zeroForOne,
        int256 amountSpecified,
        uint160 sqrtPriceLimitX96,
        bytes calldata data
    ) external returns (int256 amount0, int256 amount1);
}

/// Lets people trade and provide liquidity on PancakeSwap V3.
contract PancakeRouter {
    uint160 private constant LOWEST = 4295128740; // the limits of V3's TickMath, exclusive
    uint160 private constant HIGHEST = 1461446703485210103287273052203988822378723970341;

    IPancakeFactory private immutable factory;

    /// Who pays, and what makes sure that only a pool asks for it.
    struct Debt {
        address token0;
        address token1;
        uint24 fee;
        address payer;
    }

    constructor(IPancakeFactory factory_) {
        factory = factory_;
    }

    function open(address token0, address token1, uint24 fee, uint160 sqrtPriceX96) external {
        IPancakePool(factory.createPool(token0, token1, fee)).initialize(sqrtPriceX96);
    }

    /// Opens a position of the caller.
    function mint(address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint128 liquidity)
        external
    {
        IPancakePool(factory.getPool(token0, token1, fee)).mint(
            msg.sender, tickLower, tickUpper, liquidity, abi.encode(Debt(token0, token1, fee, msg.sender))
        );
    }

    /// Swaps an exact amount of one token for as much of the other as there is for it.
    function swap(address tokenIn, address tokenOut, uint24 fee, uint256 amountIn, address recipient) external {
        bool zeroForOne = tokenIn < tokenOut;
        (address token0, address token1) = zeroForOne ? (tokenIn, tokenOut) : (tokenOut, tokenIn);
        IPancakePool(factory.getPool(tokenIn, tokenOut, fee)).swap(
            recipient,
            zeroForOne,
            int256(amountIn),
            zeroForOne ? LOWEST : HIGHEST,
            abi.encode(Debt(token0, token1, fee, msg.sender))
        );
    }

    function pancakeV3MintCallback(uint256 owed0, uint256 owed1, bytes calldata data) external {
        pay(owed0, owed1, abi.decode(data, (Debt)));
    }

    function pancakeV3SwapCallback(int256 delta0, int256 delta1, bytes calldata data) external {
        pay(delta0 > 0 ? uint256(delta0) : 0, delta1 > 0 ? uint256(delta1) : 0, abi.decode(data, (Debt)));
    }

    function pay(uint256 owed0, uint256 owed1, Debt memory debt) private {
        require(msg.sender == factory.getPool(debt.token0, debt.token1, debt.fee), "not a pool");
        if (owed0 > 0) require(IERC20(debt.token0).transferFrom(debt.payer, msg.sender, owed0), "not paid");
        if (owed1 > 0) require(IERC20(debt.token1).transferFrom(debt.payer, msg.sender, owed1), "not paid");
    }
}
