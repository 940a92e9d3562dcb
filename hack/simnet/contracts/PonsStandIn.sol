// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import "./CurveStandIn.sol";

/// Stands in for the curve of one token of Pons v2. What its events mean: quoteIn is what a buyer gives with fee and tax,
/// quoteOut what a seller gets after both.
contract PonsV2CurveStandIn is CurveStandIn {
    PonsV2StandIn private immutable factory;
    address public immutable token;
    uint256 public immutable taxBps;

    event CurveBuy(
        address indexed buyer, address indexed recipient, uint256 quoteIn, uint256 tokensOut, uint256 fee, uint256 tax
    );
    event CurveSell(
        address indexed seller, address indexed recipient, uint256 tokensIn, uint256 quoteOut, uint256 fee, uint256 tax
    );

    /// The token's supply must arrive before the first trade.
    constructor(StandInConfig memory c, address token_, address creator, uint256 taxBps_) CurveStandIn(c) {
        (factory, token, taxBps) = (PonsV2StandIn(payable(msg.sender)), token_, taxBps_);
        fresh(token_, creator);
    }

    function threshold() external view returns (uint256) {
        return targetQuote;
    }

    function buy(uint256 minBase, address recipient) public payable returns (uint256) {
        Fill memory f = fillBuy(token, minBase, recipient, taxBps);
        emit CurveBuy(msg.sender, recipient, f.net + f.fee + f.tax, f.base, f.fee, f.tax);
        if (curveOf[token].completed) {
            (Curve storage c, uint256 base, uint256 quote) = leaving(token);
            require(IERC20(token).transfer(address(factory), base), "not sent");
            c.pool = bytes32(uint256(uint160(factory.graduate{value: quote}(base))));
        }
        return f.base;
    }

    /// How people buy on the real one.
    function buy(uint256 quoteIn, uint256 minBase, address recipient) external payable returns (uint256) {
        require(msg.value == quoteIn, "another amount than was sent");
        return buy(minBase, recipient);
    }

    /// How people sell on the real one too.
    function sell(uint256 base, uint256 minQuote, address recipient) external returns (uint256) {
        Fill memory f = fillSell(token, base, minQuote, recipient, taxBps);
        uint256 got = f.net - f.fee - f.tax;
        emit CurveSell(msg.sender, recipient, f.base, got, f.fee, f.tax);
        return got;
    }
}

/// Stands in for the factory of Pons v2. What its events mean: pairToken is 0 for the native coin, graduationThreshold what the
/// curve raises net of fees and taxes. The buy that fills a curve moves it at once: to a Uniswap V3 pool, of which
/// only the position is told. Launch configuration 1 has a tax of 50 bps for the token's creator, 0 has none.
contract PonsV2StandIn is CurveStandIn {
    StandInConfig private config;
    uint256 private launches;
    mapping(address => address) private tokenOf; // by curve

    event TokenLaunched(
        address indexed token,
        address indexed curve,
        address indexed deployer,
        address pairToken,
        uint256 launchConfigId,
        uint256 graduationThreshold
    );
    event PoolGraduated(address indexed token, uint256 positionId, uint256 tokenAmount, uint256 pairAmount);

    constructor(StandInConfig memory c) CurveStandIn(c) {
        config = c;
    }

    function launch(string calldata name, string calldata symbol, string calldata) external returns (address token) {
        token = address(new LaunchToken(name, symbol));
        announce(token);
    }

    /// The real one makes every token itself; this is for tokens that misbehave.
    function adopt(address token, string calldata, string calldata, string calldata) external {
        require(IERC20(token).transferFrom(msg.sender, address(this), SUPPLY), "not paid");
        announce(token);
    }

    function announce(address token) private {
        uint256 configId = launches++ % 2;
        PonsV2CurveStandIn curve = new PonsV2CurveStandIn(config, token, msg.sender, configId * 50);
        tokenOf[address(curve)] = token;
        require(IERC20(token).transfer(address(curve), SUPPLY), "not sent");
        emit TokenLaunched(token, address(curve), msg.sender, address(0), configId, curve.threshold());
    }

    /// A full curve brings its token and its quote.
    function graduate(uint256 base) external payable returns (address pool) {
        address token = tokenOf[msg.sender];
        require(token != address(0), "not a curve");
        pool = openV3(token, base, msg.value);
        emit PoolGraduated(token, toV3(token, base, msg.value), base, msg.value);
    }
}
