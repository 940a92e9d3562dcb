// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import "./Tokens.sol";

struct Order {
    address inputToken;
    address outputToken;
    uint256 inputAmount;
    uint256 minOutputAmount;
    bytes permitData;
}

/// Sells and buys one token at one price, for a fee, by the functions of several launchpads. It stands in for them where it matters
/// that the right function is called with the right arguments.
contract OutsideCurve {
    uint256 private constant PRICE = 1e6; // tokens for a coin
    Clean private immutable token;

    constructor(Clean token_) {
        token = token_;
    }

    // four.meme
    function buyTokenAMAP(address token_, uint256 funds, uint256 minAmount) external payable {
        require(token_ == address(token) && funds == msg.value && funds % 1e9 == 0 && minAmount == 0);
        give(msg.sender);
    }

    function sellToken(address token_, uint256 amount) external {
        require(token_ == address(token) && amount % 1e9 == 0);
        takeBack(amount, msg.sender);
    }

    // Flap
    function swapExactInput(Order calldata order) external payable returns (uint256) {
        require(order.minOutputAmount == 0 && order.permitData.length == 0);
        if (order.inputToken == address(0)) {
            require(order.outputToken == address(token) && order.inputAmount == msg.value);
            return give(msg.sender);
        }
        require(order.inputToken == address(token) && order.outputToken == address(0) && msg.value == 0);
        return takeBack(order.inputAmount, msg.sender);
    }

    // Pons
    function buy(uint256 quoteIn, uint256 minTokensOut, address recipient) external payable returns (uint256) {
        require(quoteIn == msg.value && minTokensOut == 0);
        return give(recipient);
    }

    function sell(uint256 tokensIn, uint256 minQuoteOut, address recipient) external returns (uint256) {
        require(minQuoteOut == 0);
        return takeBack(tokensIn, recipient);
    }

    function give(address to) private returns (uint256 amount) {
        amount = msg.value * PRICE * 99 / 100;
        require(token.transfer(to, amount));
    }

    function takeBack(uint256 amount, address to) private returns (uint256 paid) {
        require(token.transferFrom(msg.sender, address(this), amount));
        paid = amount / PRICE * 99 / 100;
        (bool ok,) = to.call{value: paid}("");
        require(ok);
    }
}

/// Moves to and from its curve alone while it is there.
contract Restricted is Clean {
    function trick(address from, address to, uint256) internal view override returns (uint256) {
        require(from == pair || to == pair, "on the curve still");
        return 0;
    }
}
