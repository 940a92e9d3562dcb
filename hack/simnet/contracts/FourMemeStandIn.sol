// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import "./CurveStandIn.sol";

/// TokenManager2's record of a token.
struct FourMemeInfo {
    address base;
    address quote; // 0 for the native coin
    uint256 template;
    uint256 totalSupply;
    uint256 maxOffers;
    uint256 maxRaising;
    uint256 launchTime;
    uint256 offers;
    uint256 funds;
    uint256 lastPrice;
    uint256 k;
    uint256 t;
    uint256 status;
}

/// Stands in for four.meme's TokenManager2. What its events mean: amount is of tokens; cost is what the curve's funds rise or
/// fall by, and fee comes on top of a purchase and off a sale; price is that of 10^18 base units after the trade; offers
/// are the tokens left for sale and funds the quote raised, both after the trade. TradeStop comes with the purchase that fills a
/// curve.
contract FourMemeV2StandIn is CurveStandIn {
    uint256 private requests;

    event TokenCreate(
        address creator,
        address token,
        uint256 requestId,
        string name,
        string symbol,
        uint256 totalSupply,
        uint256 launchTime,
        uint256 launchFee
    );
    event TokenPurchase(
        address token,
        address account,
        uint256 price,
        uint256 amount,
        uint256 cost,
        uint256 fee,
        uint256 offers,
        uint256 funds
    );
    event TokenSale(
        address token,
        address account,
        uint256 price,
        uint256 amount,
        uint256 cost,
        uint256 fee,
        uint256 offers,
        uint256 funds
    );
    event TradeStop(address token);
    event LiquidityAdded(address base, uint256 offers, address quote, uint256 funds);

    constructor(StandInConfig memory c) CurveStandIn(c) {}

    function launch(string calldata name, string calldata symbol, string calldata) external payable returns (address token) {
        token = makeCurve(name, symbol);
        announce(token, name, symbol);
        if (msg.value > 0) buy(token, 0, msg.sender);
    }

    /// The real one makes every token itself; this is for tokens that misbehave.
    function adopt(address token, string calldata name, string calldata symbol, string calldata) external {
        adoptCurve(token);
        announce(token, name, symbol);
    }

    function announce(address token, string calldata name, string calldata symbol) private {
        emit TokenCreate(msg.sender, token, ++requests, name, symbol, SUPPLY, block.timestamp, 0);
    }

    /// What the real one keeps of a token, all zeros of one that it doesn't have. Of template, launchTime, k, t and status nothing
    /// is kept here.
    function _tokenInfos(address token) external view returns (FourMemeInfo memory info) {
        Curve storage c = curveOf[token];
        if (c.virtualBase == 0) return info;
        (info.base, info.totalSupply, info.maxOffers, info.maxRaising) = (token, SUPPLY, saleBase, targetQuote);
        (info.offers, info.funds, info.lastPrice) = (left(c), raised(c), price(token));
    }

    function buy(address token, uint256 minBase, address recipient) public payable returns (uint256) {
        Fill memory f = fillBuy(token, minBase, recipient, 0);
        Curve storage c = curveOf[token];
        emit TokenPurchase(token, recipient, price(token), f.base, f.net, f.fee, left(c), raised(c));
        if (c.completed) emit TradeStop(token);
        return f.base;
    }

    function sell(address token, uint256 base, uint256 minQuote, address recipient) public returns (uint256) {
        Fill memory f = fillSell(token, base, minQuote, recipient, 0);
        Curve storage c = curveOf[token];
        emit TokenSale(token, msg.sender, price(token), f.base, f.net, f.fee, left(c), raised(c));
        return f.net - f.fee;
    }

    /// How people buy on the real one, which gives back what is sent along beyond the funds. Here nothing may be.
    function buyTokenAMAP(address token, uint256 funds, uint256 minAmount) external payable {
        require(msg.value == funds, "other funds than were sent");
        buy(token, minAmount, msg.sender);
    }

    /// How people sell on the real one, which takes no finer amounts than 10^9 units.
    function sellToken(address token, uint256 amount) external {
        require(amount % 1e9 == 0, "GW");
        sell(token, amount, 0, msg.sender);
    }

    /// Moves a full curve to a Uniswap V2 pair. With the real one its operator does.
    function graduate(address token) external {
        (Curve storage c, uint256 base, uint256 quote) = leaving(token);
        c.pool = bytes32(uint256(uint160(toV2(token, base, quote))));
        emit LiquidityAdded(token, base, address(0), quote);
    }
}

/// Stands in for four.meme's first TokenManager. What its events mean: tokenAmount is of tokens, and etherAmount what the
/// curve's funds rise or fall by; the fee, which comes on top of a purchase and off a sale, stands nowhere, and neither do the
/// reserves. TradeStop and LiquidityAdded are as in TokenManager2.
contract FourMemeV1StandIn is CurveStandIn {
    uint256 private requests;

    event TokenCreate(
        address creator, address token, uint256 requestId, string name, string symbol, uint256 totalSupply, uint256 launchTime
    );
    event TokenPurchase(address token, address account, uint256 tokenAmount, uint256 etherAmount);
    event TokenSale(address token, address account, uint256 tokenAmount, uint256 etherAmount);
    event TradeStop(address token);
    event LiquidityAdded(address base, uint256 offers, address quote, uint256 funds);

    constructor(StandInConfig memory c) CurveStandIn(c) {}

    function launch(string calldata name, string calldata symbol, string calldata) external payable returns (address token) {
        token = makeCurve(name, symbol);
        emit TokenCreate(msg.sender, token, ++requests, name, symbol, SUPPLY, block.timestamp);
        if (msg.value > 0) buy(token, 0, msg.sender);
    }

    function buy(address token, uint256 minBase, address recipient) public payable returns (uint256) {
        Fill memory f = fillBuy(token, minBase, recipient, 0);
        emit TokenPurchase(token, recipient, f.base, f.net);
        if (curveOf[token].completed) emit TradeStop(token);
        return f.base;
    }

    function sell(address token, uint256 base, uint256 minQuote, address recipient) external returns (uint256) {
        Fill memory f = fillSell(token, base, minQuote, recipient, 0);
        emit TokenSale(token, msg.sender, f.base, f.net);
        return f.net - f.fee;
    }

    /// Moves a full curve to a Uniswap V2 pair. With the real one its operator does.
    function graduate(address token) external {
        (Curve storage c, uint256 base, uint256 quote) = leaving(token);
        c.pool = bytes32(uint256(uint160(toV2(token, base, quote))));
        emit LiquidityAdded(token, base, address(0), quote);
    }
}
