package solana

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"

	"github.com/bytedance/sonic"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/hack/bench/solana"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

const readCommand = "read-solana"

// Read is the child that reads blocks, and prints how many transactions they have.
func Read() lab.Command {
	var how, document string
	var inMemory bool
	var first, last uint64
	return lab.Command{
		Name: readCommand, Child: true,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&how, "how", "", "the contender")
			f.StringVar(&document, "document", "", "the chain document")
			f.BoolVar(&inMemory, "memory", false, "read the first block again and again")
			f.Uint64Var(&first, "first", 0, "slot of the first block")
			f.Uint64Var(&last, "last", 0, "slot of the last block")
		},
		Run: func(ctx context.Context) error {
			c, err := chainconfig.Load(document)
			if err != nil {
				return err
			}
			blocks := solana.OverHTTP(ctx, c)
			if inMemory {
				blocks = again(blocks)
			}
			var n int
			switch how {
			case boardwalk:
				n, err = solana.Decode(blocks, c, first, last)
			case sonicName:
				n, err = readInto(blocks, first, last, sonic.Unmarshal)
			default:
				n, err = readInto(blocks, first, last, json.Unmarshal)
			}
			fmt.Println(n)
			return err
		},
	}
}

// answer is what a node tells of a block, as far as Boardwalk reads it.
type answer struct {
	Result struct {
		Blockhash         string `json:"blockhash"`
		PreviousBlockhash string `json:"previousBlockhash"`
		ParentSlot        uint64 `json:"parentSlot"`
		BlockTime         int64  `json:"blockTime"`
		Transactions      []struct {
			Meta struct {
				Err               json.RawMessage `json:"err"`
				Fee               uint64          `json:"fee"`
				InnerInstructions []struct {
					Index        int           `json:"index"`
					Instructions []instruction `json:"instructions"`
				} `json:"innerInstructions"`
				LoadedAddresses struct {
					Writable []string `json:"writable"`
					Readonly []string `json:"readonly"`
				} `json:"loadedAddresses"`
				LogMessages       []string  `json:"logMessages"`
				PreTokenBalances  []balance `json:"preTokenBalances"`
				PostTokenBalances []balance `json:"postTokenBalances"`
			} `json:"meta"`
			Transaction struct {
				Signatures []string `json:"signatures"`
				Message    struct {
					AccountKeys  []string      `json:"accountKeys"`
					Instructions []instruction `json:"instructions"`
				} `json:"message"`
			} `json:"transaction"`
		} `json:"transactions"`
	} `json:"result"`
}

type instruction struct {
	ProgramIDIndex int    `json:"programIdIndex"`
	Accounts       []int  `json:"accounts"`
	Data           string `json:"data"`
	StackHeight    *int   `json:"stackHeight"`
}

type balance struct {
	AccountIndex  int    `json:"accountIndex"`
	Mint          string `json:"mint"`
	Owner         string `json:"owner"`
	UITokenAmount struct {
		Amount   string `json:"amount"`
		Decimals uint8  `json:"decimals"`
	} `json:"uiTokenAmount"`
}

// readInto reads blocks into structs by a JSON library.
func readInto(blocks solana.Source, first, last uint64, unmarshal func([]byte, any) error) (transactions int, err error) {
	err = blocks.Each(first, last, func(_ uint64, raw []byte) error {
		var a answer
		err := unmarshal(raw, &a)
		transactions += len(a.Result.Transactions)
		return err
	})
	return transactions, err
}

// again asks for one block, and gives that for each slot.
func again(one solana.Source) solana.Source {
	var answer []byte
	return func(slot uint64) (_ []byte, err error) {
		if answer == nil {
			answer, err = one(slot)
		}
		return answer, err
	}
}
