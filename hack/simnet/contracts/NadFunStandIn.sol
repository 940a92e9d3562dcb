// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import "./CurveStandIn.sol";

/// Stands in for nad.fun's bonding curve. What its events mean: amountIn and amountOut are what the virtual reserves move by;
/// the fee, which comes on top of a buy and off a sale, stands nowhere. When virtual tokens are down to the target, the curve is
/// full and locked. The Uniswap V3 pool is there from the launch on, empty, at the price that the full curve will have.
contract NadFunStandIn is CurveStandIn {
    event CurveCreate(
        address indexed creator,
        address indexed token,
        address indexed pool,
        string name,
        string symbol,
        string tokenURI,
        uint256 virtualMon,
        uint256 virtualToken,
        uint256 targetTokenAmount
    );
    event CurveBuy(address indexed sender, address indexed token, uint256 amountIn, uint256 amountOut);
    event CurveSell(address indexed sender, address indexed token, uint256 amountIn, uint256 amountOut);
    event CurveSync(
        address indexed token,
        uint256 realMonReserve,
        uint256 realTokenReserve,
        uint256 virtualMonReserve,
        uint256 virtualTokenReserve
    );
    event CurveTokenLocked(address indexed token);
    event CurveGraduate(address indexed token, address indexed pool);

    constructor(StandInConfig memory c) CurveStandIn(c) {}

    function launch(string calldata name, string calldata symbol, string calldata uri)
        external
        payable
        returns (address token)
    {
        token = makeCurve(name, symbol);
        announce(token, name, symbol, uri);
        if (msg.value > 0) buy(token, 0, msg.sender);
    }

    /// The real one makes every token itself; this is for tokens that misbehave.
    function adopt(address token, string calldata name, string calldata symbol, string calldata uri) external {
        adoptCurve(token);
        announce(token, name, symbol, uri);
    }

    function announce(address token, string calldata name, string calldata symbol, string calldata uri) private {
        address pool = openV3(token, SUPPLY - saleBase, targetQuote);
        emit CurveCreate(
            msg.sender,
            token,
            pool,
            name,
            symbol,
            uri,
            initialVirtualQuote,
            initialVirtualBase,
            initialVirtualBase - saleBase
        );
    }

    function buy(address token, uint256 minBase, address recipient) public payable returns (uint256) {
        Fill memory f = fillBuy(token, minBase, recipient, 0);
        emit CurveBuy(recipient, token, f.net, f.base);
        sync(token);
        if (curveOf[token].completed) emit CurveTokenLocked(token);
        return f.base;
    }

    function sell(address token, uint256 base, uint256 minQuote, address recipient) external returns (uint256) {
        Fill memory f = fillSell(token, base, minQuote, recipient, 0);
        emit CurveSell(msg.sender, token, f.base, f.net);
        sync(token);
        return f.net - f.fee;
    }

    function sync(address token) private {
        Curve storage c = curveOf[token];
        emit CurveSync(token, raised(c), left(c) + SUPPLY - saleBase, c.virtualQuote, c.virtualBase);
    }

    /// Moves a full curve into its pool. Anyone may call it.
    function graduate(address token) external {
        (Curve storage c, uint256 base, uint256 quote) = leaving(token);
        address pool = openV3(token, base, quote);
        c.pool = bytes32(uint256(uint160(pool)));
        toV3(token, base, quote);
        emit CurveGraduate(token, pool);
    }
}
