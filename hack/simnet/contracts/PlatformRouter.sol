// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import "./IERC20.sol";

interface IWrapped is IERC20 {
    function deposit() external payable;
}

/// The platform's own router. It trades on an exchange for whoever calls it, and sends a fee of 80
/// basis points of what is paid or got to a recipient.
contract PlatformRouter {
    /// Whose fee reached the recipient. The asset 0 is the chain's own coin.
    event FeePaid(address payer, address recipient, address asset, uint256 amount);

    address private immutable recipient;

    constructor(address recipient_) {
        recipient = recipient_;
    }

    function feeOf(uint256 amount) public pure returns (uint256) {
        return amount * 80 / 10_000;
    }

    /// Buys with a token: the order spends what the fee leaves, and delivers to the caller.
    function buy(IERC20 quote, uint256 amount, address exchange, bytes calldata order) external {
        uint256 fee = feeOf(amount);
        require(quote.transferFrom(msg.sender, address(this), amount), "not paid");
        pay(quote, fee);
        run(quote, amount - fee, exchange, order);
    }

    /// Buys with the chain's own coin.
    function buyWithCoin(IWrapped wrapped, address exchange, bytes calldata order) external payable {
        uint256 fee = feeOf(msg.value);
        (bool sent,) = recipient.call{value: fee}("");
        require(sent, "no fee");
        emit FeePaid(msg.sender, recipient, address(0), fee);
        wrapped.deposit{value: msg.value - fee}();
        run(wrapped, msg.value - fee, exchange, order);
    }

    /// Sells a token: the order delivers the quote here.
    function sell(IERC20 token, uint256 amount, IERC20 quote, address exchange, bytes calldata order) external {
        require(token.transferFrom(msg.sender, address(this), amount), "not given");
        run(token, amount, exchange, order);
        uint256 got = quote.balanceOf(address(this));
        uint256 fee = feeOf(got);
        pay(quote, fee);
        require(quote.transfer(msg.sender, got - fee), "not sent");
    }

    function pay(IERC20 asset, uint256 fee) private {
        require(asset.transfer(recipient, fee), "no fee");
        emit FeePaid(msg.sender, recipient, address(asset), fee);
    }

    function run(IERC20 token, uint256 amount, address exchange, bytes calldata order) private {
        token.approve(exchange, amount);
        (bool done,) = exchange.call(order);
        require(done, "order failed");
    }
}
