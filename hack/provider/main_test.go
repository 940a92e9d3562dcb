package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// until ends a context once a text was written.
type until struct {
	bytes.Buffer

	text string
	end  context.CancelFunc
}

func (u *until) Write(p []byte) (int, error) {
	n, err := u.Buffer.Write(p)
	if strings.Contains(u.String(), u.text) {
		u.end()
	}
	return n, err
}

func TestTheCommandServesAStandInUntilItIsToldToEnd(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	out, dir := &until{text: "provider ready", end: end}, t.TempDir()
	args := []string{
		"--samples", "../../config/samples", "--chain", "robinhood", "--profile", "reth,hyperevm", "--txs", "5", "--logs", "20", "--pairs", "4", "--pools", "1",
		"--past", "3", "--dir", dir,
	}
	if err := run(ctx, args, out); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"no mainnet", "reth: http://127.0.0.1:", "hyperevm: http://127.0.0.1:", "/counts", "reth was asked: {"} {
		if !strings.Contains(out.String(), says) {
			t.Errorf("it doesn't say %q:\n%s", says, out.String())
		}
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "robinhood.yaml"))
	if err != nil || strings.Count(string(manifest), "- url: http://127.0.0.1:") != 2 || !strings.Contains(string(manifest), "now: true") {
		t.Errorf("the manifest is %s (%v)", manifest, err)
	}
}

func TestTheCommandServesASolana(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	out, dir := &until{text: "provider ready", end: end}, t.TempDir()
	if err := run(ctx, []string{"--chain", "solana", "--profile", "helius-free,yellowstone", "--past", "3", "--dir", dir}, out); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"no mainnet", "helius-free: http://127.0.0.1:", "yellowstone: http://127.0.0.1:", "/a-readers-token by YellowstoneGRPC", "yellowstone was asked: {"} {
		if !strings.Contains(out.String(), says) {
			t.Errorf("it doesn't say %q:\n%s", says, out.String())
		}
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "solana.yaml"))
	if err != nil || strings.Count(string(manifest), "{url: \"http://127.0.0.1:") != 3 || strings.Count(string(manifest), "protocol: YellowstoneGRPC}") != 1 ||
		!strings.Contains(string(manifest), "id: pump-fun") {
		t.Errorf("the manifest is %s (%v)", manifest, err)
	}
}

func TestTheCommandSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for args, says := range map[string]string{
		"--profile nobody": `no profile "nobody": there are agave, agave-restarted, agave-storage, alchemy,`,
		"--samples ../../config/samples --chain nowhere":   "no EVM chain \"nowhere\": it has base,",
		"--chain solana --profile reth":                    "profile reth isn't for chain solana",
		"--chain base --profile helius-free":               "profile helius-free isn't for chain base",
		"--samples ../../config/samples --block-time 50ms": "from 100ms to 12s",
		"--reorgs 2": "--reorgs must be from 0 to 1",
		"base":       `"base" is no argument`,
		"--samples ../../config/samples --state-every 200ms": "1s at least",
	} {
		if err := run(t.Context(), strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, wanted %q", args, err, says)
		}
	}
	var help, profiles bytes.Buffer
	if err := run(t.Context(), []string{"--help"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "it is no mainnet") {
		t.Errorf("%v: %s", err, help.String())
	}
	if err := run(t.Context(), []string{"profiles"}, &profiles); err != nil || !strings.Contains(profiles.String(), "hyperliquid-dex/node issue 158") {
		t.Errorf("%v: %s", err, profiles.String())
	}
}
