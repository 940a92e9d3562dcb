// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// A plain token. The others change how it moves. Whoever deploys it has all of it and is let through every trick.
contract Clean {
    string public name = "Test";
    string public symbol = "TEST";
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    address internal maker;
    address internal pair; // where it is traded

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor() {
        init();
    }

    function init() public {
        require(totalSupply == 0);
        maker = msg.sender;
        _mint(msg.sender, 1_000_000_000e18);
    }

    function setPair(address pair_) external {
        require(msg.sender == maker);
        pair = pair_;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        return true;
    }

    function transfer(address to, uint256 value) external virtual returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
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
        uint256 kept = from == maker || to == maker ? 0 : trick(from, to, value);
        balanceOf[maker] += kept;
        balanceOf[to] += value - kept;
        emit Transfer(from, to, value - kept);
    }

    /// What the maker takes of it.
    function trick(address, address, uint256) internal virtual returns (uint256) {
        return 0;
    }
}

contract Honeypot is Clean {
    function trick(address, address to, uint256) internal view override returns (uint256) {
        require(to != pair, "<b>not for you</b>");
        return 0;
    }
}

contract SellTax is Clean {
    function trick(address, address to, uint256 value) internal view override returns (uint256) {
        return to == pair ? value * 40 / 100 : 0;
    }
}

contract BuyTax is Clean {
    function trick(address from, address, uint256 value) internal view override returns (uint256) {
        return from == pair ? value * 12 / 100 : 0;
    }
}

contract TransferTax is Clean {
    function trick(address from, address to, uint256 value) internal view override returns (uint256) {
        return from != pair && to != pair ? value * 35 / 100 : 0;
    }
}

contract AllTax is Clean {
    function trick(address, address, uint256 value) internal pure override returns (uint256) {
        return value * 5 / 100;
    }
}

/// Sells for accounts below the middle of all addresses alone.
contract Whitelist is Clean {
    function trick(address from, address to, uint256) internal view override returns (uint256) {
        require(to != pair || uint160(from) < uint160(0xC0) << 152, "not on the list");
        return 0;
    }
}

/// Refuses large transfers, whoever they are from or to.
contract MaxTransfer is Clean {
    function trick(address, address, uint256 value) internal pure override returns (uint256) {
        require(value < 50_000e18, "too much");
        return 0;
    }
}

/// Refuses large sales.
contract MaxSell is Clean {
    function trick(address, address to, uint256 value) internal view override returns (uint256) {
        require(to != pair || value < 50_000e18, "too much");
        return 0;
    }
}

contract NoTransfers is Clean {
    function trick(address from, address to, uint256) internal view override returns (uint256) {
        require(from == pair || to == pair, "sell it");
        return 0;
    }
}

/// Lets an account send once a block.
contract Cooldown is Clean {
    mapping(address => uint256) private sent;

    function trick(address from, address, uint256) internal override returns (uint256) {
        if (from == pair) return 0;
        require(sent[from] < block.number, "wait");
        sent[from] = block.number;
        return 0;
    }
}

/// Refuses a transfer with what the probe says of a transfer that went through.
contract Pretender is Clean {
    function trick(address from, address to, uint256) internal view override returns (uint256) {
        if (from == pair || to == pair) return 0;
        bytes memory lie = abi.encode(true, abi.encode(uint256(1), 1, 1, 1));
        assembly {
            revert(add(lie, 32), mload(lie))
        }
    }
}

contract Closed is Clean {
    function trick(address, address, uint256) internal pure override returns (uint256) {
        revert("not open yet");
    }
}

contract Owned is Clean {
    address public owner = msg.sender;
    address public pendingOwner;

    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }

    function setOwner(address owner_, address pending_) external onlyOwner {
        (owner, pendingOwner) = (owner_, pending_);
    }
}

contract Backdoor is Owned {
    function mint(address to, uint256 value) external onlyOwner {
        _mint(to, value);
    }
}

/// Has the name and another who may use it.
contract Minted is Owned {
    function mint(address to, uint256 value) external {
        require(msg.sender == address(0xBEEF));
        _mint(to, value);
    }
}

contract Pausable is Owned {
    bool public paused;

    function pause() external onlyOwner {
        paused = true;
    }

    function trick(address, address, uint256) internal view override returns (uint256) {
        require(!paused, "paused");
        return 0;
    }
}

/// Has the name, which does nothing.
contract PausableInName is Owned {
    bool public paused;

    function pause() external onlyOwner {
        paused = true;
    }
}

contract Blacklist is Owned {
    mapping(address => bool) private bad;

    function blacklist(address account, bool is_) external onlyOwner {
        bad[account] = is_;
    }

    function trick(address from, address, uint256) internal view override returns (uint256) {
        require(!bad[from], "blocked");
        return 0;
    }
}

/// Burns all gas on a sale.
contract Burner is Clean {
    function trick(address, address to, uint256) internal view override returns (uint256) {
        if (to == pair) while (true) {}
        return 0;
    }
}

/// Answers with a megabyte wherever it can, its sales included.
contract Megabyte is Clean {
    function trick(address, address to, uint256) internal view override returns (uint256) {
        if (to == pair) {
            assembly {
                revert(0, 1000000)
            }
        }
        return 0;
    }

    function owner() external pure {
        assembly {
            return(0, 400000)
        }
    }
}

/// Refuses a sale with bytes that look like the beginning of something.
contract Junk is Clean {
    function trick(address, address to, uint256) internal view override returns (uint256) {
        if (to == pair) {
            assembly {
                mstore(0, 0x08c379a0ffffffffffffffffffffffffffffffffffffffffffffffffffffffff)
                mstore(32, not(0))
                mstore(64, not(0))
                revert(0, 99)
            }
        }
        return 0;
    }
}

/// Says no without reverting.
contract SaysNo is Clean {
    function transfer(address to, uint256 value) external override returns (bool) {
        if (to == pair && msg.sender != maker) return false;
        _move(msg.sender, to, value);
        return true;
    }
}

/// Uses a transfer to make the sender part with more.
contract Reentrant is Clean {
    bool private inside;

    function trick(address from, address to, uint256) internal override returns (uint256) {
        if (inside || from == pair || to == pair) return 0;
        inside = true;
        (bool taken,) = from.call(abi.encodeWithSignature("giveBack(address,uint256)", address(this), balanceOf[from] / 2));
        (bool paid,) = from.call(abi.encodeWithSignature("uniswapV3SwapCallback(int256,int256,bytes)", 1, 0, abi.encode(this)));
        require(taken && !paid, "the callback is for pools alone");
        inside = false;
        return 0;
    }
}

contract Proxy1967 {
    constructor(bytes32 logicSlot, address logic, address admin) {
        assembly {
            sstore(logicSlot, logic)
            sstore(0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103, admin)
        }
        (bool ok,) = logic.delegatecall(abi.encodeCall(Clean.init, ()));
        require(ok);
        where = logicSlot;
    }

    bytes32 private immutable where;

    fallback() external payable {
        bytes32 slot = where;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), sload(slot), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if ok { return(0, returndatasize()) }
            revert(0, returndatasize())
        }
    }
}

contract Beacon {
    address public immutable implementation;
    address public owner = msg.sender;

    constructor(address logic) {
        implementation = logic;
    }
}

contract ProxyOfBeacon {
    constructor(address beacon) {
        assembly {
            sstore(0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50, beacon)
        }
        (bool ok,) = Beacon(beacon).implementation().delegatecall(abi.encodeCall(Clean.init, ()));
        require(ok);
    }

    fallback() external payable {
        address beacon;
        assembly {
            beacon := sload(0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50)
        }
        address logic = Beacon(beacon).implementation();
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), logic, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if ok { return(0, returndatasize()) }
            revert(0, returndatasize())
        }
    }
}

/// Makes clones (EIP-1167) that begin with all of their supply at the caller's.
contract Cloner {
    event Cloned(address token);

    function clone(address logic) external returns (address token) {
        bytes memory code = abi.encodePacked(
            hex"3d602d80600a3d3981f3363d3d373d3d3d363d73", logic, hex"5af43d82803e903d91602b57fd5bf3"
        );
        assembly {
            token := create(0, add(code, 32), mload(code))
        }
        Clean(token).init();
        Clean(token).transfer(msg.sender, Clean(token).balanceOf(address(this)));
        emit Cloned(token);
    }
}
