// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// What every simnet token is made with. Operators need no allowance, as Permit2 needs none with
/// many current tokens: it saves some thousand approvals per chain.
struct Config {
    string name;
    string symbol;
    uint8 decimals;
    uint256 ownerSupply;
    address[] holders;
    uint256 holderSupply;
    address[] operators;
}

/// A plain ERC-20 with an owner who may mint.
contract Token {
    string public name;
    string public symbol;
    uint8 public immutable decimals;
    address public immutable owner;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => bool) private operators;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(Config memory c) {
        (name, symbol, decimals, owner) = (c.name, c.symbol, c.decimals, msg.sender);
        for (uint256 i = 0; i < c.operators.length; i++) operators[c.operators[i]] = true;
        _mint(msg.sender, c.ownerSupply);
        for (uint256 i = 0; i < c.holders.length; i++) _mint(c.holders[i], c.holderSupply);
    }

    function mint(address to, uint256 value) external {
        require(msg.sender == owner, "not the owner");
        _mint(to, value);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        if (!operators[msg.sender] && allowance[from][msg.sender] != type(uint256).max) {
            allowance[from][msg.sender] -= value;
        }
        _move(from, to, value);
        return true;
    }

    function _mint(address to, uint256 value) internal {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function _move(address from, address to, uint256 value) internal virtual {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// Takes 3 % of each transfer for its owner.
contract FeeToken is Token {
    uint256 public constant FEE_BPS = 300;

    constructor(Config memory c) Token(c) {}

    function _move(address from, address to, uint256 value) internal override {
        if (from == owner || to == owner) return super._move(from, to, value);
        uint256 fee = (value * FEE_BPS) / 10_000;
        super._move(from, owner, fee);
        super._move(from, to, value - fee);
    }
}

/// Keeps shares; a rebase changes every balance at once and emits no Transfer.
contract RebasingToken {
    string public name;
    string public symbol;
    uint8 public immutable decimals;
    address public immutable owner;
    uint256 public index = 1e18;
    uint256 private totalShares;
    mapping(address => uint256) private shares;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => bool) private operators;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Rebase(uint256 index, uint256 totalSupply);

    constructor(Config memory c) {
        (name, symbol, decimals, owner) = (c.name, c.symbol, c.decimals, msg.sender);
        for (uint256 i = 0; i < c.operators.length; i++) operators[c.operators[i]] = true;
        _mint(msg.sender, c.ownerSupply);
        for (uint256 i = 0; i < c.holders.length; i++) _mint(c.holders[i], c.holderSupply);
    }

    function totalSupply() public view returns (uint256) {
        return (totalShares * index) / 1e18;
    }

    function balanceOf(address account) external view returns (uint256) {
        return (shares[account] * index) / 1e18;
    }

    /// Sets the index and makes the given pairs take notice, as elastic-supply tokens do.
    function rebase(uint256 newIndex, address[] calldata pairs) external {
        require(msg.sender == owner, "not the owner");
        index = newIndex;
        emit Rebase(newIndex, totalSupply());
        for (uint256 i = 0; i < pairs.length; i++) ISync(pairs[i]).sync();
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        if (!operators[msg.sender] && allowance[from][msg.sender] != type(uint256).max) {
            allowance[from][msg.sender] -= value;
        }
        _move(from, to, value);
        return true;
    }

    function _mint(address to, uint256 value) internal {
        totalShares += value;
        shares[to] += value;
        emit Transfer(address(0), to, value);
    }

    function _move(address from, address to, uint256 value) internal {
        uint256 moved = (value * 1e18) / index;
        shares[from] -= moved;
        shares[to] += moved;
        emit Transfer(from, to, value);
    }
}

interface ISync {
    function sync() external;
}

/// A token of 2017: name and symbol are bytes32.
contract Bytes32Token {
    bytes32 public immutable name;
    bytes32 public immutable symbol;
    uint8 public immutable decimals;
    address public immutable owner;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => bool) private operators;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(Config memory c) {
        (name, symbol) = (bytes32(bytes(c.name)), bytes32(bytes(c.symbol)));
        (decimals, owner) = (c.decimals, msg.sender);
        for (uint256 i = 0; i < c.operators.length; i++) operators[c.operators[i]] = true;
        _mint(msg.sender, c.ownerSupply);
        for (uint256 i = 0; i < c.holders.length; i++) _mint(c.holders[i], c.holderSupply);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        if (!operators[msg.sender] && allowance[from][msg.sender] != type(uint256).max) {
            allowance[from][msg.sender] -= value;
        }
        _move(from, to, value);
        return true;
    }

    function _mint(address to, uint256 value) internal {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function _move(address from, address to, uint256 value) internal {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
