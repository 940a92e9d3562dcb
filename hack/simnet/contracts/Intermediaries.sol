// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import "./IERC20.sol";

/// A call of an exchange's router.
struct Leg {
    address router;
    uint256 amountIn;
    bytes data;
}

/// Splits a trade over several pools. In between it holds the tokens itself, so that no pool sees
/// the trader.
contract Aggregator {
    function trade(address tokenIn, address tokenOut, uint256 amountIn, Leg[] calldata legs) external {
        require(IERC20(tokenIn).transferFrom(msg.sender, address(this), amountIn), "not paid");
        for (uint256 i = 0; i < legs.length; i++) {
            IERC20(tokenIn).approve(legs[i].router, legs[i].amountIn);
            (bool done,) = legs[i].router.call(legs[i].data);
            require(done, "leg failed");
        }
        require(IERC20(tokenOut).transfer(msg.sender, IERC20(tokenOut).balanceOf(address(this))), "not sent");
    }
}

interface IV2Router {
    function swapExactTokensForTokens(uint256 amountIn, uint256 least, address[] calldata path, address to, uint256 deadline)
        external
        returns (uint256[] memory);
}

struct V3Single {
    address tokenIn;
    address tokenOut;
    uint24 fee;
    address recipient;
    uint256 deadline;
    uint256 amountIn;
    uint256 least;
    uint160 limit;
}

interface IV3Router {
    function exactInputSingle(V3Single calldata order) external returns (uint256);
}

/// Buys and later sells everything again, for whoever calls it. A fee of 0 means Uniswap V2.
contract Pump {
    function buy(address router, address tokenIn, address tokenOut, uint24 fee, uint256 amountIn) external {
        require(IERC20(tokenIn).transferFrom(msg.sender, address(this), amountIn), "not paid");
        swap(router, tokenIn, tokenOut, fee, amountIn);
    }

    function sellAll(address router, address tokenIn, address tokenOut, uint24 fee) external {
        swap(router, tokenIn, tokenOut, fee, IERC20(tokenIn).balanceOf(address(this)));
        require(IERC20(tokenOut).transfer(msg.sender, IERC20(tokenOut).balanceOf(address(this))), "not sent");
    }

    function swap(address router, address tokenIn, address tokenOut, uint24 fee, uint256 amountIn) private {
        IERC20(tokenIn).approve(router, amountIn);
        if (fee > 0) {
            IV3Router(router).exactInputSingle(
                V3Single(tokenIn, tokenOut, fee, address(this), block.timestamp, amountIn, 0, 0)
            );
            return;
        }
        address[] memory path = new address[](2);
        (path[0], path[1]) = (tokenIn, tokenOut);
        IV2Router(router).swapExactTokensForTokens(amountIn, 0, path, address(this), block.timestamp);
    }
}

/// ERC-4337's user operation, as of EntryPoint 0.8. The EntryPoint itself comes from npm.
struct UserOperation {
    address sender;
    uint256 nonce;
    bytes initCode;
    bytes callData;
    bytes32 accountGasLimits;
    uint256 preVerificationGas;
    bytes32 gasFees;
    bytes paymasterAndData;
    bytes signature;
}

/// The least that the EntryPoint takes for an account. It checks no signature: whoever asks on this
/// local chain may spend what it holds.
contract SmartAccount {
    address private immutable entryPoint;

    constructor(address entryPoint_, IERC20 token, address[] memory spenders) {
        entryPoint = entryPoint_;
        for (uint256 i = 0; i < spenders.length; i++) token.approve(spenders[i], type(uint256).max);
    }

    receive() external payable {}

    function validateUserOp(UserOperation calldata, bytes32, uint256 missing) external returns (uint256) {
        require(msg.sender == entryPoint, "not the entry point");
        if (missing > 0) {
            (bool sent,) = entryPoint.call{value: missing}("");
            require(sent, "not paid");
        }
        return 0;
    }

    function execute(address to, uint256 value, bytes calldata data) external {
        require(msg.sender == entryPoint, "not the entry point");
        (bool done,) = to.call{value: value}(data);
        require(done, "call failed");
    }
}
