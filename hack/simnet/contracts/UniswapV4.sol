// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import "./IERC20.sol";

// The part of Uniswap V4's PoolManager that is called here. The PoolManager itself comes from npm.

struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct LiquidityChange {
    int24 tickLower;
    int24 tickUpper;
    int256 liquidityDelta;
    bytes32 salt;
}

struct SwapOrder {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

interface IPoolManager {
    function initialize(PoolKey calldata key, uint160 sqrtPriceX96) external returns (int24 tick);
    function extsload(bytes32 slot) external view returns (bytes32);
    function unlock(bytes calldata data) external returns (bytes memory);
    function modifyLiquidity(PoolKey calldata key, LiquidityChange calldata change, bytes calldata hookData)
        external
        returns (int256 callerDelta, int256 feesAccrued);
    function swap(PoolKey calldata key, SwapOrder calldata order, bytes calldata hookData)
        external
        returns (int256 delta);
    function sync(address currency) external;
    function settle() external payable returns (uint256);
    function take(address currency, address to, uint256 amount) external;
}

/// Lets people trade and provide liquidity on a PoolManager. Currency 0 is the native one; what of it
/// isn't needed goes back. Positions belong to this contract and are told apart by their provider,
/// whose address is the salt. It stands in for Uniswap's PositionManager, too, as far as that tells what pools are.
contract V4Router {
    uint160 private constant LOWEST = 4295128740; // the limits of V4's TickMath, exclusive
    uint160 private constant HIGHEST = 1461446703485210103287273052203988822378723970341;

    IPoolManager private immutable manager;

    /// What the pools are that liquidity was provided to, by the first 25 bytes of their ids.
    mapping(bytes25 => PoolKey) public poolKeys;

    struct Job {
        PoolKey key;
        LiquidityChange change; // a swap if liquidityDelta is 0
        SwapOrder order;
        address payer;
        address recipient;
    }

    constructor(IPoolManager manager_) {
        manager = manager_;
    }

    function poolManager() external view returns (IPoolManager) {
        return manager;
    }

    /// Swaps an exact amount of one currency for as much of the other as there is for it.
    function swap(PoolKey calldata key, bool zeroForOne, uint256 amountIn, address recipient) external payable {
        Job memory job;
        (job.key, job.payer, job.recipient) = (key, msg.sender, recipient);
        job.order = SwapOrder(zeroForOne, -int256(amountIn), zeroForOne ? LOWEST : HIGHEST);
        run(job);
    }

    /// Adds to a position of the caller, or takes from it.
    function modifyLiquidity(PoolKey calldata key, int24 tickLower, int24 tickUpper, int256 liquidityDelta)
        external
        payable
    {
        require(liquidityDelta != 0, "no change");
        bytes25 id = bytes25(keccak256(abi.encode(key)));
        if (poolKeys[id].tickSpacing == 0) poolKeys[id] = key;
        Job memory job;
        (job.key, job.payer, job.recipient) = (key, msg.sender, msg.sender);
        job.change = LiquidityChange(tickLower, tickUpper, liquidityDelta, bytes32(uint256(uint160(msg.sender))));
        run(job);
    }

    function run(Job memory job) private {
        manager.unlock(abi.encode(job));
        if (address(this).balance > 0) {
            (bool sent,) = job.payer.call{value: address(this).balance}("");
            require(sent, "change refused");
        }
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        require(msg.sender == address(manager), "not the manager");
        Job memory job = abi.decode(data, (Job));
        int256 delta;
        if (job.change.liquidityDelta != 0) {
            (delta,) = manager.modifyLiquidity(job.key, job.change, "");
        } else {
            delta = manager.swap(job.key, job.order, "");
        }
        // The upper half is currency0's, the lower currency1's; negative is owed to the manager.
        even(job, job.key.currency0, int128(delta >> 128));
        even(job, job.key.currency1, int128(delta));
        return "";
    }

    function even(Job memory job, address currency, int256 amount) private {
        if (amount > 0) {
            manager.take(currency, job.recipient, uint256(amount));
        } else if (amount < 0 && currency == address(0)) {
            manager.settle{value: uint256(-amount)}();
        } else if (amount < 0) {
            manager.sync(currency);
            require(IERC20(currency).transferFrom(job.payer, address(manager), uint256(-amount)), "not paid");
            manager.settle();
        }
    }
}

/// A hook that is asked before each swap and changes nothing. Nobody who reads the chain can know that.
contract SilentHook {
    function beforeSwap(address, PoolKey calldata, SwapOrder calldata, bytes calldata)
        external
        pure
        returns (bytes4, int256, uint24)
    {
        return (this.beforeSwap.selector, 0, 0);
    }
}
