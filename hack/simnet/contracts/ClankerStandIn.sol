// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import "./CurveStandIn.sol";
import "./Intermediaries.sol";
import "./UniswapV4.sol";

/// Where the tokens of both Clanker stand-ins begin: startingTick is that of wrapped native per token, and startingPrice a
/// square root price (Q64.96) just below it, so that a position from that tick upwards holds tokens alone.
struct LivePoolConfig {
    address wrapped;
    int24 startingTick;
    uint160 startingPrice;
}

/// Makes tokens whose address is below the wrapped asset's, so that they are token 0 of their pools.
abstract contract LowTokens {
    uint256 private salts;

    function makeLow(address wrapped, string calldata name, string calldata symbol) internal returns (LaunchToken) {
        bytes32 codeHash = keccak256(abi.encodePacked(type(LaunchToken).creationCode, abi.encode(name, symbol)));
        while (true) {
            bytes32 salt = bytes32(++salts);
            bytes32 hash = keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, codeHash));
            if (address(uint160(uint256(hash))) < wrapped) return new LaunchToken{salt: salt}(name, symbol);
        }
        revert("unreachable");
    }
}

/// Stands in for Clanker v3.1: a token is a Uniswap V3 pool from its first block, to which its whole supply goes as one position
/// above the price, held here for good. What is sent along buys from it.
contract ClankerV3StandIn is LowTokens {
    uint24 private constant FEE = 10000;
    int24 private constant LAST_TICK = 887200;

    LivePoolConfig private config;
    IV3Positions private immutable positions;
    address private immutable router;

    event TokenCreated(
        address indexed tokenAddress,
        address indexed creatorAdmin,
        address indexed interfaceAdmin,
        address creatorRewardRecipient,
        address interfaceRewardRecipient,
        uint256 positionId,
        string name,
        string symbol,
        int24 startingTickIfToken0IsNewToken,
        string metadata,
        uint256 amountTokensBought,
        uint256 vaultDuration,
        uint8 vaultPercentage,
        address msgSender
    );

    constructor(LivePoolConfig memory c, IV3Positions positions_, address router_) {
        (config, positions, router) = (c, positions_, router_);
    }

    function launch(string calldata name, string calldata symbol, string calldata metadata)
        external
        payable
        returns (address)
    {
        LaunchToken token = makeLow(config.wrapped, name, symbol);
        uint256 supply = token.totalSupply();
        token.approve(address(positions), supply);
        positions.createAndInitializePoolIfNecessary(address(token), config.wrapped, FEE, config.startingPrice);
        V3Mint memory order;
        (order.token0, order.token1, order.fee) = (address(token), config.wrapped, FEE);
        (order.tickLower, order.tickUpper) = (config.startingTick, LAST_TICK);
        (order.amount0Desired, order.recipient, order.deadline) = (supply, address(this), block.timestamp);
        (uint256 positionId,,,) = positions.mint(order);
        uint256 bought = msg.value == 0 ? 0 : buyFirst(address(token));
        emit TokenCreated(
            address(token),
            msg.sender,
            address(this),
            msg.sender,
            address(this),
            positionId,
            name,
            symbol,
            config.startingTick,
            metadata,
            bought,
            0,
            0,
            msg.sender
        );
        return address(token);
    }

    function buyFirst(address token) private returns (uint256) {
        IWrapped(config.wrapped).deposit{value: msg.value}();
        IWrapped(config.wrapped).approve(router, msg.value);
        return IV3Router(router).exactInputSingle(
            V3Single(config.wrapped, token, FEE, msg.sender, block.timestamp, msg.value, 0, 0)
        );
    }
}

/// Stands in for a Clanker v4 hook: it lets its factory alone open pools with it, and does nothing else.
contract ClankerHookStandIn {
    address private immutable factory;

    constructor(address factory_) {
        factory = factory_;
    }

    function beforeInitialize(address sender, PoolKey calldata, uint160) external view returns (bytes4) {
        require(sender == factory, "not the factory");
        return this.beforeInitialize.selector;
    }
}

/// Stands in for Clanker v4: a token is a Uniswap V4 pool with a hook from its first block, to which its whole supply goes as one
/// position above the price, held here for good. It is its own locker and has neither a module against MEV nor
/// extensions.
contract ClankerV4StandIn is LowTokens {
    uint24 private constant FEE = 10000;
    int24 private constant TICK_SPACING = 200;
    int24 private constant LAST_TICK = 887200;

    LivePoolConfig private config;
    IPoolManager private immutable manager;
    address private immutable hook;

    event TokenCreated(
        address msgSender,
        address indexed tokenAddress,
        address indexed tokenAdmin,
        string tokenImage,
        string tokenName,
        string tokenSymbol,
        string tokenMetadata,
        string tokenContext,
        int24 startingTick,
        address poolHook,
        bytes32 poolId,
        address pairedToken,
        address locker,
        address mevModule,
        uint256 extensionsSupply,
        address[] extensions
    );

    constructor(LivePoolConfig memory c, IPoolManager manager_, address hook_) {
        (config, manager, hook) = (c, manager_, hook_);
    }

    function launch(string calldata name, string calldata symbol, string calldata metadata, string calldata image)
        external
        returns (address)
    {
        LaunchToken token = makeLow(config.wrapped, name, symbol);
        PoolKey memory key = PoolKey(address(token), config.wrapped, FEE, TICK_SPACING, hook);
        manager.initialize(key, config.startingPrice);
        manager.unlock(abi.encode(key));
        emit TokenCreated(
            msg.sender,
            address(token),
            msg.sender,
            image,
            name,
            symbol,
            metadata,
            '{"interface":"simnet"}',
            config.startingTick,
            hook,
            keccak256(abi.encode(key)),
            config.wrapped,
            address(this),
            address(0),
            0,
            new address[](0)
        );
        return address(token);
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        require(msg.sender == address(manager), "not the manager");
        PoolKey memory key = abi.decode(data, (PoolKey));
        LaunchToken token = LaunchToken(key.currency0);
        // Slightly less than the supply allows, as the price is just below the tick and the range nearly endless.
        uint256 liquidity = (token.totalSupply() * config.startingPrice) >> 96;
        (int256 added,) = manager.modifyLiquidity(
            key, LiquidityChange(config.startingTick, LAST_TICK, int256(liquidity), bytes32(0)), ""
        );
        manager.sync(address(token));
        token.transfer(address(manager), uint256(-(added >> 128)));
        manager.settle();
        return "";
    }
}
