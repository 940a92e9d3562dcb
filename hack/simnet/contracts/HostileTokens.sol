// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// What the tokens here share: an ERC-20 of 18 decimals with an owner, who holds all of it at first. Markets are the
/// contracts to which people sell; the owner says which they are. Exempt accounts are not subject to the token's trick.
contract OwnedToken {
    string public name;
    string public symbol;
    uint8 public constant decimals = 18;
    address public owner;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => bool) public isMarket;
    mapping(address => bool) public isExempt;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);

    constructor(string memory name_, string memory symbol_, address owner_) {
        setUp(name_, symbol_, owner_);
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }

    function setUp(string memory name_, string memory symbol_, address owner_) internal {
        (name, symbol, owner) = (name_, symbol_, owner_);
        isExempt[owner_] = true;
        emit OwnershipTransferred(address(0), owner_);
        mintTo(owner_, 1_000_000_000e18);
    }

    function setMarket(address market, bool is_) external onlyOwner {
        isMarket[market] = is_;
    }

    function setExempt(address account, bool is_) external onlyOwner {
        isExempt[account] = is_;
    }

    function renounceOwnership() external onlyOwner {
        emit OwnershipTransferred(owner, address(0));
        owner = address(0);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        move(from, to, value);
        return true;
    }

    function move(address from, address to, uint256 value) internal virtual {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }

    function mintTo(address to, uint256 value) internal {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }
}

/// Can be bought by all and sold by exempt accounts alone.
contract HoneypotToken is OwnedToken {
    constructor(string memory name_, string memory symbol_, address owner_) OwnedToken(name_, symbol_, owner_) {}

    function move(address from, address to, uint256 value) internal override {
        require(!isMarket[to] || isExempt[from], "transfer failed");
        super.move(from, to, value);
    }
}

/// Its owner can make more of it.
contract BackdoorToken is OwnedToken {
    constructor(string memory name_, string memory symbol_, address owner_) OwnedToken(name_, symbol_, owner_) {}

    function mint(address to, uint256 value) external onlyOwner {
        mintTo(to, value);
    }
}

/// Takes 40 % of each sale for its owner, and nothing of purchases and transfers.
contract SellTaxToken is OwnedToken {
    uint256 private constant TAX_PCT = 40;
    address private immutable collector;

    constructor(string memory name_, string memory symbol_, address owner_) OwnedToken(name_, symbol_, owner_) {
        collector = owner_;
    }

    function move(address from, address to, uint256 value) internal override {
        if (!isMarket[to] || isExempt[from]) return super.move(from, to, value);
        uint256 tax = (value * TAX_PCT) / 100;
        super.move(from, collector, tax);
        super.move(from, to, value - tax);
    }
}

/// Its owner can stop all transfers, or those of single accounts.
contract BlacklistToken is OwnedToken {
    bool public paused;
    mapping(address => bool) public isBlacklisted;

    constructor(string memory name_, string memory symbol_, address owner_) OwnedToken(name_, symbol_, owner_) {}

    function pause(bool paused_) external onlyOwner {
        paused = paused_;
    }

    function blacklist(address account, bool listed) external onlyOwner {
        isBlacklisted[account] = listed;
    }

    function move(address from, address to, uint256 value) internal override {
        require(!paused && !isBlacklisted[from] && !isBlacklisted[to], "stopped");
        super.move(from, to, value);
    }
}

/// The logic of UpgradeableToken.
contract TokenLogic is OwnedToken {
    constructor() OwnedToken("logic", "LOGIC", msg.sender) {}

    function initialize(string calldata name_, string calldata symbol_, address owner_) external {
        require(totalSupply == 0, "initialized");
        setUp(name_, symbol_, owner_);
    }
}

/// What UpgradeableToken may become: like a honeypot, it can be sold by exempt accounts alone.
contract TokenLogicV2 is OwnedToken {
    constructor() OwnedToken("logic", "LOGIC", msg.sender) {}

    function move(address from, address to, uint256 value) internal override {
        require(!isMarket[to] || isExempt[from], "transfer failed");
        super.move(from, to, value);
    }
}

/// An ERC-1967 proxy whose admin can give it another logic. The admin can't use the token itself.
contract UpgradeableToken {
    bytes32 private constant LOGIC = bytes32(uint256(keccak256("eip1967.proxy.implementation")) - 1);
    bytes32 private constant ADMIN = bytes32(uint256(keccak256("eip1967.proxy.admin")) - 1);

    event Upgraded(address indexed implementation);
    event AdminChanged(address previousAdmin, address newAdmin);

    constructor(address logic, address admin, bytes memory call_) {
        bytes32 slot = ADMIN;
        assembly {
            sstore(slot, admin)
        }
        emit AdminChanged(address(0), admin);
        become(logic);
        (bool done,) = logic.delegatecall(call_);
        require(done, "not initialized");
    }

    function become(address logic) private {
        bytes32 slot = LOGIC;
        assembly {
            sstore(slot, logic)
        }
        emit Upgraded(logic);
    }

    fallback() external payable {
        (bytes32 logicSlot, bytes32 adminSlot) = (LOGIC, ADMIN);
        (address logic, address admin) = (address(0), address(0));
        assembly {
            logic := sload(logicSlot)
            admin := sload(adminSlot)
        }
        if (msg.sender == admin) {
            require(msg.sig == bytes4(keccak256("upgradeTo(address)")), "the admin upgrades and does nothing else");
            return become(abi.decode(msg.data[4:], (address)));
        }
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), logic, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch done
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}

interface ICurve {
    function buy(address token, uint256 minBase, address recipient) external payable returns (uint256);
    function sell(address token, uint256 base, uint256 minQuote, address recipient) external returns (uint256);
    function graduate(address token) external;
}

interface IApprove {
    function approve(address spender, uint256 value) external returns (bool);
}

/// A trader who, whenever a curve pays him, tries to enter it again.
contract Reenterer {
    ICurve private immutable curve;
    address private immutable token;
    uint256 public payments;
    uint256 public entered;

    constructor(ICurve curve_, address token_) payable {
        (curve, token) = (curve_, token_);
        IApprove(token_).approve(address(curve_), type(uint256).max);
    }

    function buy(uint256 value) external {
        curve.buy{value: value}(token, 0, address(this));
    }

    function sell(uint256 base) external {
        curve.sell(token, base, 0, address(this));
    }

    receive() external payable {
        payments++;
        try curve.sell(token, 1e18, 0, address(this)) {
            entered++;
        } catch {}
        try curve.buy{value: 1e9}(token, 0, address(this)) {
            entered++;
        } catch {}
        try curve.graduate(token) {
            entered++;
        } catch {}
    }
}
