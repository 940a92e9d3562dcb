// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import "./CurveStandIn.sol";

/// What is swapped on Flap. The native coin is 0; permitData may stand for an approval.
struct FlapOrder {
    address inputToken;
    address outputToken;
    uint256 inputAmount;
    uint256 minOutputAmount;
    bytes permitData;
}

/// Stands in for Flap's Portal. What its events mean: amount is of tokens; eth is gross, what a buyer gives with the fee and
/// what a seller would get without it; postPrice is that of 10^18 base units after the trade. A curve is r, h and k with 18
/// decimals: (10^9 + h - sold)(r + raised) = k, full when a threshold of tokens is sold. The buy that fills it moves it to a
/// Uniswap V2 pair at once. Every second token says that its quote is the native coin, the others leave it at that.
contract FlapStandIn is CurveStandIn {
    uint256 private nonce;

    event TokenCreated(
        uint256 ts, address creator, uint256 nonce, address token, string name, string symbol, string meta
    );
    event TokenQuoteSet(address token, address quoteToken);
    event TokenCurveSetV2(address token, uint256 r, uint256 h, uint256 k);
    event TokenDexSupplyThreshSet(address token, uint256 dexSupplyThresh);
    event TokenBought(
        uint256 ts, address token, address buyer, uint256 amount, uint256 eth, uint256 fee, uint256 postPrice
    );
    event TokenSold(
        uint256 ts, address token, address seller, uint256 amount, uint256 eth, uint256 fee, uint256 postPrice
    );
    event LaunchedToDEX(address token, address pool, uint256 amount, uint256 eth);

    constructor(StandInConfig memory c) CurveStandIn(c) {}

    function launch(string calldata name, string calldata symbol, string calldata meta)
        external
        payable
        returns (address token)
    {
        token = makeCurve(name, symbol);
        announce(token, name, symbol, meta);
        if (msg.value > 0) buy(token, 0, msg.sender);
    }

    /// The real one makes every token itself; this is for tokens that misbehave.
    function adopt(address token, string calldata name, string calldata symbol, string calldata meta) external {
        adoptCurve(token);
        announce(token, name, symbol, meta);
    }

    function announce(address token, string calldata name, string calldata symbol, string calldata meta) private {
        emit TokenCreated(block.timestamp, msg.sender, ++nonce, token, name, symbol, meta);
        if (nonce % 2 == 0) emit TokenQuoteSet(token, address(0));
        uint256 k = (initialVirtualBase * initialVirtualQuote) / 1e18;
        emit TokenCurveSetV2(token, initialVirtualQuote, initialVirtualBase - SUPPLY, k);
        emit TokenDexSupplyThreshSet(token, saleBase);
    }

    function buy(address token, uint256 minBase, address recipient) public payable returns (uint256) {
        Fill memory f = fillBuy(token, minBase, recipient, 0);
        emit TokenBought(block.timestamp, token, recipient, f.base, f.net + f.fee, f.fee, price(token));
        if (curveOf[token].completed) {
            (Curve storage c, uint256 base, uint256 quote) = leaving(token);
            address pair = toV2(token, base, quote);
            c.pool = bytes32(uint256(uint160(pair)));
            emit LaunchedToDEX(token, pair, base, quote);
        }
        return f.base;
    }

    function sell(address token, uint256 base, uint256 minQuote, address recipient) public returns (uint256) {
        Fill memory f = fillSell(token, base, minQuote, recipient, 0);
        emit TokenSold(block.timestamp, token, msg.sender, f.base, f.net, f.fee, price(token));
        return f.net - f.fee;
    }

    /// How people trade on the real one: they swap the native coin for a token, or back. Permits are not understood here.
    function swapExactInput(FlapOrder calldata order) external payable returns (uint256) {
        require(order.permitData.length == 0, "no permits here");
        if (order.inputToken == address(0)) {
            require(msg.value == order.inputAmount, "another amount than was sent");
            return buy(order.outputToken, order.minOutputAmount, msg.sender);
        }
        require(order.outputToken == address(0) && msg.value == 0, "no such swap");
        return sell(order.inputToken, order.inputAmount, order.minOutputAmount, msg.sender);
    }
}
