// Package toolchain is what a simnet runs with: the chain node's binary, the Solidity compiler and the creation code of
// contracts. They come from npm at run time (npm/package-lock.json pins them) and are never part of this repository.
package toolchain

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/boardwalkhq/boardwalk/hack/simnet/contracts"
	"github.com/boardwalkhq/boardwalk/internal/npmcache"
)

//go:embed npm/package.json npm/package-lock.json npm/.npmrc
var bundled embed.FS

// Tools is what a simnet runs with once it is installed.
type Tools struct {
	// Anvil is the path of the chain node's binary.
	Anvil string
	// Code is contract creation code by contract name, our own and the exchanges'.
	Code map[string][]byte
}

// externalArtifacts says which npm file holds which contract.
var externalArtifacts = map[string]string{
	"WETH9":                      "@uniswap/v2-periphery/build/WETH9.json",
	"UniswapV2Factory":           "@uniswap/v2-core/build/UniswapV2Factory.json",
	"UniswapV2Router02":          "@uniswap/v2-periphery/build/UniswapV2Router02.json",
	"UniswapV3Factory":           "@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json",
	"SwapRouter":                 "@uniswap/v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json",
	"NonfungiblePositionManager": "@uniswap/v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json",
	"PoolManager":                "@uniswap/v4-core/out/PoolManager.sol/PoolManager.json",
	"PancakeV3Factory":           "@pancakeswap/v3-core/artifacts/contracts/PancakeV3Factory.sol/PancakeV3Factory.json",
	"PancakeV3Pool":              "@pancakeswap/v3-core/artifacts/contracts/PancakeV3Pool.sol/PancakeV3Pool.json",
	"EntryPoint":                 "@account-abstraction/contracts/artifacts/EntryPoint.json",
}

var installed struct {
	sync.Mutex
	tools *Tools
}

// Install makes sure that the node packages are there and the contracts are compiled. Both are kept
// under $BOARDWALK_CACHE, or the user's cache directory, by the hash of what they were made from; the
// first run needs npm and its registry and takes half a minute, later ones read one file. Several
// processes may call it at once.
func Install(ctx context.Context) (Tools, error) {
	installed.Lock()
	defer installed.Unlock()
	if installed.tools != nil {
		return *installed.tools, nil
	}
	tools, err := install(ctx)
	if err != nil {
		return Tools{}, fmt.Errorf("toolchain: install: %w", err)
	}
	installed.tools = &tools
	return tools, nil
}

func install(ctx context.Context) (Tools, error) {
	npm, err := fs.Sub(bundled, "npm")
	if err != nil {
		return Tools{}, err
	}
	packages, err := npmcache.Install(ctx, "simnet", npm)
	if err != nil {
		return Tools{}, err
	}
	sources, err := contracts.Sources()
	if err != nil {
		return Tools{}, err
	}
	external, err := json.Marshal(externalArtifacts)
	if err != nil {
		return Tools{}, err
	}
	hashed, err := json.Marshal(sources)
	if err != nil {
		return Tools{}, err
	}
	codeFile := filepath.Join(packages, "code-"+shortHash(hashed, external)+".json")

	if _, err := os.Stat(codeFile); err != nil {
		unlock, err := npmcache.Lock(ctx, codeFile+".lock")
		if err != nil {
			return Tools{}, err
		}
		defer unlock()
		if _, err := os.Stat(codeFile); err != nil { // nobody compiled while we waited
			if err := compile(ctx, packages, sources, codeFile); err != nil {
				return Tools{}, err
			}
		}
	}
	return loadTools(packages, codeFile)
}

func shortHash(parts ...[]byte) string {
	hash := sha256.New()
	for _, part := range parts {
		hash.Write(part)
	}
	return hex.EncodeToString(hash.Sum(nil))[:12]
}

// compile writes one file with the creation code of every contract, by name.
func compile(ctx context.Context, packages string, sources map[string]string, codeFile string) error {
	code := make(map[string]string)
	for name, path := range externalArtifacts {
		bytecode, err := externalCode(filepath.Join(packages, "node_modules", filepath.FromSlash(path)))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		code[name] = bytecode
	}

	compiled, err := runSolc(ctx, packages, "cancun", sources)
	if err != nil {
		return err
	}
	for name, contract := range compiled {
		code[name] = hex.EncodeToString(contract.Creation)
	}
	file, err := json.Marshal(code)
	if err != nil {
		return err
	}
	if err := os.WriteFile(codeFile+".part", file, 0o644); err != nil {
		return err
	}
	return os.Rename(codeFile+".part", codeFile)
}

// externalCode reads the three artifact layouts in use: a hexadecimal string with or without 0x
// (Hardhat, Waffle), or an object (Foundry).
func externalCode(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var artifact struct{ Bytecode json.RawMessage }
	if err := json.Unmarshal(content, &artifact); err != nil {
		return "", err
	}
	var code string
	if json.Unmarshal(artifact.Bytecode, &code) != nil {
		var foundry struct{ Object string }
		if err := json.Unmarshal(artifact.Bytecode, &foundry); err != nil {
			return "", fmt.Errorf("no bytecode in %s: %w", path, err)
		}
		code = foundry.Object
	}
	return strings.TrimPrefix(code, "0x"), nil
}

func loadTools(packages, codeFile string) (Tools, error) {
	content, err := os.ReadFile(codeFile)
	if err != nil {
		return Tools{}, err
	}
	var encoded map[string]string
	if err := json.Unmarshal(content, &encoded); err != nil {
		return Tools{}, fmt.Errorf("%s: %w (remove it and try again)", codeFile, err)
	}
	tools := Tools{Code: make(map[string][]byte, len(encoded))}
	for name, text := range encoded {
		if tools.Code[name], err = hex.DecodeString(text); err != nil {
			return Tools{}, fmt.Errorf("code of %s: %w", name, err)
		}
	}
	tools.Anvil, err = findAnvil(packages)
	return tools, err
}

// findAnvil prefers the pinned package and falls back to PATH, for platforms whose package the lock
// file doesn't list.
func findAnvil(packages string) (string, error) {
	arch := map[string]string{"amd64": "amd64", "arm64": "arm64"}[runtime.GOARCH]
	pinned := filepath.Join(packages, "node_modules", "@foundry-rs", "anvil-"+runtime.GOOS+"-"+arch, "bin", "anvil")
	if _, err := os.Stat(pinned); err == nil {
		return pinned, nil
	}
	path, err := exec.LookPath("anvil")
	if err != nil {
		return "", fmt.Errorf("no anvil for %s/%s: its npm package is not in the lock file; install Foundry so that anvil is on PATH",
			runtime.GOOS, runtime.GOARCH)
	}
	return path, nil
}
