package solana

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// Source gives the answer with the block of a slot, which is good until the next one is asked for.
type Source func(slot uint64) ([]byte, error)

// Each reads the blocks of some slots.
func (s Source) Each(first, last uint64, read func(slot uint64, answer []byte) error) error {
	for slot := first; slot <= last; slot++ {
		answer, err := s(slot)
		if err != nil {
			return err
		}
		if err := read(slot, answer); err != nil {
			return err
		}
	}
	return nil
}

// OverHTTP asks for each block.
func OverHTTP(ctx context.Context, c *chainconfig.Chain) Source {
	var body bytes.Buffer
	return func(slot uint64) ([]byte, error) {
		asked := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"getBlock","params":[%d,{"encoding":"json","transactionDetails":"full","rewards":false,`+
			`"commitment":"confirmed","maxSupportedTransactionVersion":1}]}`, slot)
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Endpoints[0].URL, bytes.NewReader([]byte(asked)))
		if err != nil {
			return nil, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, err
		}
		body.Reset()
		_, err = io.Copy(&body, response.Body)
		return body.Bytes(), errors.Join(err, response.Body.Close())
	}
}

// Decode reads blocks by Boardwalk's scanner, and decodes what its programs tell.
func Decode(blocks Source, c *chainconfig.Chain, first, last uint64) (transactions int, err error) {
	d, err := decode.New(c)
	if err != nil {
		return 0, err
	}
	err = blocks.Each(first, last, func(slot uint64, raw []byte) error {
		b, _, err := d.ParseAnswer(slot, raw)
		transactions += b.Transactions
		return err
	})
	return transactions, err
}

const readCommand = "read-past"

// Read is the child that reads and decodes blocks, and does nothing else with them.
func Read() lab.Command {
	var document string
	var first, last uint64
	return lab.Command{
		Name: readCommand, Child: true,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&document, "document", "", "the chain document")
			f.Uint64Var(&first, "first", 0, "slot of the first block")
			f.Uint64Var(&last, "last", 0, "slot of the last block")
		},
		Run: func(ctx context.Context) error {
			c, err := chainconfig.Load(document)
			if err != nil {
				return err
			}
			_, err = Decode(OverHTTP(ctx, c), c, first, last)
			return err
		},
	}
}

// readAlone is the CPU of a process that reads and decodes the blocks of some slots.
func (b *bench) readAlone(ctx context.Context, first, last uint64) (time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, readCommand, "--document", b.document, "--first", strconv.FormatUint(first, 10), "--last", strconv.FormatUint(last, 10))
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("reading blocks %d to %d: %w", first, last, err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
