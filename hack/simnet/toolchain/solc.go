package toolchain

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"

	"github.com/boardwalkhq/boardwalk/internal/npmcache"
)

// Compiled is a contract's creation code and the code that it leaves on the chain; the latter is empty of immutables.
type Compiled struct {
	Creation, Runtime []byte
}

// Compile compiles Solidity with the pinned compiler, for the EVM version of that name. sources are texts by file name, by
// which they may import each other; the result is by contract name. The same sources give the same code on every machine.
func Compile(ctx context.Context, evmVersion string, sources map[string]string) (map[string]Compiled, error) {
	npm, err := fs.Sub(bundled, "npm")
	if err != nil {
		return nil, err
	}
	packages, err := npmcache.Install(ctx, "simnet", npm)
	if err != nil {
		return nil, fmt.Errorf("toolchain: install: %w", err)
	}
	return runSolc(ctx, packages, evmVersion, sources)
}

// solcDriver reads a standard JSON input and writes the standard JSON output. Sources may import files of the packages.
const solcDriver = `const solc = require('solc'), fs = require('fs');
const read = path => {
	try {
		return {contents: fs.readFileSync('node_modules/' + path, 'utf8')};
	} catch (e) {
		return {error: e.message};
	}
};
process.stdout.write(solc.compile(fs.readFileSync(0, 'utf8'), {import: read}));`

func runSolc(ctx context.Context, packages, evmVersion string, sources map[string]string) (map[string]Compiled, error) {
	files := make(map[string]any, len(sources))
	for name, text := range sources {
		files[name] = map[string]string{"content": text}
	}
	input, err := json.Marshal(map[string]any{
		"language": "Solidity",
		"sources":  files,
		"settings": map[string]any{
			"optimizer":  map[string]any{"enabled": true, "runs": 200},
			"viaIR":      true,
			"evmVersion": evmVersion,
			"metadata":   map[string]any{"bytecodeHash": "none"},
			"outputSelection": map[string]any{
				"*": map[string]any{"*": []string{"evm.bytecode.object", "evm.deployedBytecode.object"}},
			},
		},
	})
	if err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("node"); err != nil {
		return nil, errors.New("node is not on PATH: install Node.js 20 or newer")
	}
	var stderr bytes.Buffer
	node := exec.CommandContext(ctx, "node", "-e", solcDriver)
	node.Dir, node.Stdin, node.Stderr = packages, bytes.NewReader(input), &stderr
	raw, err := node.Output()
	if err != nil {
		return nil, fmt.Errorf("solc: %w\n%s", err, stderr.String())
	}
	return readCompiled(raw)
}

func readCompiled(raw []byte) (map[string]Compiled, error) {
	var output struct {
		Errors []struct {
			Severity         string
			FormattedMessage string
		}
		Contracts map[string]map[string]struct {
			Evm struct{ Bytecode, DeployedBytecode struct{ Object string } }
		}
	}
	if err := json.Unmarshal(raw, &output); err != nil {
		return nil, fmt.Errorf("solc output: %w", err)
	}
	for _, problem := range output.Errors {
		if problem.Severity == "error" {
			return nil, fmt.Errorf("solc: %s", problem.FormattedMessage)
		}
	}
	out := map[string]Compiled{}
	for _, contracts := range output.Contracts {
		for name, contract := range contracts {
			creation, err := hex.DecodeString(contract.Evm.Bytecode.Object)
			if err != nil {
				return nil, fmt.Errorf("solc: code of %s: %w", name, err)
			}
			runtime, err := hex.DecodeString(contract.Evm.DeployedBytecode.Object)
			if err != nil {
				return nil, fmt.Errorf("solc: runtime code of %s: %w", name, err)
			}
			if len(creation) > 0 {
				out[name] = Compiled{creation, runtime}
			}
		}
	}
	return out, nil
}
