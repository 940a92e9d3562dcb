package anvil_test

import (
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
)

func TestPortInUse(t *testing.T) {
	t.Parallel()
	node, err := anvil.StartNode(t.Context(), anvil.NodeOptions{ChainID: 8453})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
	at, err := url.Parse(node.URL())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(at.Port())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := anvil.StartNode(t.Context(), anvil.NodeOptions{Port: port}); err == nil || !strings.Contains(err.Error(), "is not free") {
		t.Errorf("got %v", err)
	}
}

// A world is a pure function of its seed only if what is sent is mined in the order of its sending.
func TestTransactionsAreMinedAsTheyWereSent(t *testing.T) {
	t.Parallel()
	node, err := anvil.StartNode(t.Context(), anvil.NodeOptions{ChainID: 8453})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
	var accounts []string
	if err := node.Call(t.Context(), &accounts, "eth_accounts"); err != nil {
		t.Fatal(err)
	}
	list := make([]anvil.Transaction, 300) // in one batch they came out in another order each time
	for i := range list {
		list[i] = anvil.Transaction{From: accounts[i*7%len(accounts)], To: accounts[0], Value: big.NewInt(int64(i))}
	}
	sent, err := node.Send(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	if err := node.MineNext(t.Context()); err != nil {
		t.Fatal(err)
	}
	var block struct{ Transactions []string }
	if err := node.Call(t.Context(), &block, "eth_getBlockByNumber", "latest", false); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(block.Transactions, sent) {
		t.Errorf("sent %v\nmined %v", sent, block.Transactions)
	}
}

func TestCreateAddress(t *testing.T) {
	t.Parallel()
	// The well-known first contracts of anvil's first account.
	sender := "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
	for nonce, want := range map[uint64]string{
		0: "0x5fbdb2315678afecb367f032d93f642f64180aa3",
		1: "0xe7f1725e7734ce288f8367e1bb143e90bb3f0512",
	} {
		if got := anvil.CreateAddress(sender, nonce); got != want {
			t.Errorf("nonce %d: %s, want %s", nonce, got, want)
		}
	}
}

func TestEncodeCall(t *testing.T) {
	t.Parallel()
	// The examples of the contract ABI specification.
	for _, c := range []struct {
		got, want string
	}{
		{anvil.ToHex(anvil.EncodeCall("baz(uint32,bool)", 69, true)), "0xcdcd77c0" +
			strings.Repeat("0", 62) + "45" + strings.Repeat("0", 63) + "1"},
		{anvil.ToHex(anvil.EncodeCall("sam(bytes,bool,uint256[])", []byte("dave"), true, []any{1, 2, 3})), "0xa5643bf2" +
			"0000000000000000000000000000000000000000000000000000000000000060" +
			"0000000000000000000000000000000000000000000000000000000000000001" +
			"00000000000000000000000000000000000000000000000000000000000000a0" +
			"0000000000000000000000000000000000000000000000000000000000000004" +
			"6461766500000000000000000000000000000000000000000000000000000000" +
			"0000000000000000000000000000000000000000000000000000000000000003" +
			"0000000000000000000000000000000000000000000000000000000000000001" +
			"0000000000000000000000000000000000000000000000000000000000000002" +
			"0000000000000000000000000000000000000000000000000000000000000003"},
	} {
		if c.got != c.want {
			t.Errorf("got %s\nwant %s", c.got, c.want)
		}
	}
}
