package anvil

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// DumpState writes the chain with its blocks, receipts and logs to a file for NodeOptions.LoadState.
// Call traces are left out: they are two thirds of it, and nobody here asks for them.
func (n *Node) DumpState(ctx context.Context, path string) error {
	var dumped HexBytes
	if err := n.Call(ctx, &dumped, "anvil_dumpState"); err != nil {
		return err
	}
	content, err := gzip.NewReader(bytes.NewReader(dumped))
	if err != nil {
		return fmt.Errorf("anvil: dumped state: %w", err)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	if err := withoutTraces(out, content); err != nil {
		return errors.Join(fmt.Errorf("anvil: dumped state: %w", err), file.Close())
	}
	return errors.Join(out.Flush(), file.Close())
}

// withoutTraces copies a state, one transaction after the other, as all of them together may be a
// gigabyte.
func withoutTraces(out *bufio.Writer, in io.Reader) error {
	state := json.NewDecoder(in)
	if _, err := state.Token(); err != nil { // {
		return err
	}
	separator := "{"
	for state.More() {
		key, err := state.Token()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s%q:", separator, key) // Flush tells of errors
		separator = ","
		if key == "transactions" {
			err = copyTransactions(out, state)
		} else {
			var value json.RawMessage
			err = state.Decode(&value)
			_, _ = out.Write(value)
		}
		if err != nil {
			return err
		}
	}
	_, err := out.WriteString("}")
	return err
}

func copyTransactions(out *bufio.Writer, state *json.Decoder) error {
	if _, err := state.Token(); err != nil { // [
		return err
	}
	separator := "["
	for state.More() {
		var tx, info map[string]json.RawMessage
		if err := state.Decode(&tx); err != nil {
			return err
		}
		if err := json.Unmarshal(tx["info"], &info); err != nil {
			return err
		}
		info["traces"] = json.RawMessage("[]")
		var err error
		if tx["info"], err = json.Marshal(info); err != nil {
			return err
		}
		short, err := json.Marshal(tx)
		if err != nil {
			return err
		}
		_, _ = out.WriteString(separator)
		_, _ = out.Write(short)
		separator = ","
	}
	if separator == "[" {
		_, _ = out.WriteString("[")
	}
	if _, err := state.Token(); err != nil { // ]
		return err
	}
	_, err := out.WriteString("]")
	return err
}
