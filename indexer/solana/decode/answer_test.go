package decode

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestAnswers: what a node answers is told apart, whatever the order of the answer's fields.
func TestAnswers(t *testing.T) {
	t.Parallel()
	d := newDecoder(t, declared())
	block := string(solanatest.Block(t, market.Header{Hash: market.Hash{2}, Parent: market.Hash{1}, Time: 1}, 1, solanatest.Recorded(t)[0].Raw))
	want, err := d.ParseBlock(2, []byte(block))
	if err != nil {
		t.Fatal(err)
	}
	for text, told := range map[string]Told{
		`{"jsonrpc":"2.0","id":1,"result":` + block + `}`:                            ToldBlock,
		`{"result":` + block + `,"error":null,"id":1}`:                               ToldBlock,
		` {"error" : null , "result" : ` + block + ` }`:                              ToldBlock,
		`{"jsonrpc":"2.0","id":1,"result":null}`:                                     ToldNull,
		`{"jsonrpc":"2.0","error":{"code":-32004,"message":"not available"},"id":1}`: ToldRefusal,
		`{"error":{"code":-32004,"message":"no"},"result":` + block + `}`:            ToldRefusal,
		`{"result":null,"error":{"code":429,"message":"too many"}}`:                  ToldRefusal,
		`{"result":` + block + `,"error":{"code":-32603,"message":"failed"}}`:        ToldRefusal,
		`{"result":null,"result":` + block + `}`:                                     ToldNull,
		`{"jsonrpc":"2.0","id":1}`:                                                   ToldNothing,
		`{"jsonrpc":"2.0","error":null,"id":1}`:                                      ToldNothing,
	} {
		got, as, err := d.ParseAnswer(2, []byte(text))
		if err != nil || as != told || told == ToldBlock && !reflect.DeepEqual(got, want) {
			t.Errorf("%.80s: %d, want %d; error %v", text, as, told, err)
		}
	}
	for _, text := range []string{"", "null", "[]", "{", `{"result":`, `{"result":` + block, `{"result":{}}`, `{"result":[]}`, `{"result":1}`, `{"result":` + strings.Replace(block, `"transactions":`, `"transactions":[],"transactions":`, 1) + `}`, fmt.Sprintf(`{"result":%s}{}`, block)} {
		if got, as, err := d.ParseAnswer(2, []byte(text)); err == nil {
			t.Errorf("%.80s: %d, %d transactions", text, as, got.Transactions)
		}
	}
}
