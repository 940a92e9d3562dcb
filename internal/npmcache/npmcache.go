// Package npmcache installs the npm packages of a lock file once, into a cache that all tests of a machine share. What the
// packages are for is its callers' business. Only tests and what developers run import it.
package npmcache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// wanted are the files that an installation is made from. The last one keeps the hosts of registries out of lock files and
// scripts of packages from running.
var wanted = []string{"package.json", "package-lock.json", ".npmrc"}

// Dir is $BOARDWALK_CACHE, or boardwalk in the user's cache directory. It need not exist.
func Dir() (string, error) {
	if dir := os.Getenv("BOARDWALK_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w (set BOARDWALK_CACHE)", err)
	}
	return filepath.Join(dir, "boardwalk"), nil
}

// Install returns a directory of the cache in whose node_modules stand the packages of source, which holds package.json,
// package-lock.json and .npmrc; those of devDependencies are left out. The directory is called after name and the lock file's
// hash. The first call needs npm and its registry, later ones look whether it is there. Several processes may call it at once.
func Install(ctx context.Context, name string, source fs.FS) (string, error) {
	cache, err := Dir()
	if err != nil {
		return "", err
	}
	return install(ctx, cache, name, source)
}

func install(ctx context.Context, cache, name string, source fs.FS) (string, error) {
	locked, err := fs.ReadFile(source, "package-lock.json")
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256(locked)
	dir := filepath.Join(cache, name+"-"+hex.EncodeToString(hash[:])[:12])
	if complete(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o750); err != nil {
		return "", fmt.Errorf("%w (set BOARDWALK_CACHE to a directory that can be written)", err)
	}
	unlock, err := Lock(ctx, dir+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if complete(dir) {
		return dir, nil // by whom we waited for
	}
	if err := fill(ctx, dir, source); err != nil {
		return "", fmt.Errorf("install %s: %w", name, err)
	}
	return dir, nil
}

func complete(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "node_modules"))
	return err == nil
}

// fill runs npm in a directory beside the final one and renames it, so that a half finished installation is never taken for
// a whole one. The caller holds the lock.
func fill(ctx context.Context, dir string, source fs.FS) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("npm is not on PATH: install Node.js 20 or newer, which brings it")
	}
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil { // of a process that was killed
		return err
	}
	if err := os.Mkdir(part, 0o750); err != nil {
		return err
	}
	defer os.RemoveAll(part)
	for _, name := range wanted {
		content, err := fs.ReadFile(source, name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(part, name), content, 0o600); err != nil {
			return err
		}
	}
	npm := exec.CommandContext(ctx, "npm", "ci", "--omit=dev", "--ignore-scripts", "--loglevel=error")
	npm.Dir = part
	npm.WaitDelay = 10 * time.Second // for what npm itself started, after it was killed
	if output, err := npm.CombinedOutput(); err != nil {
		if len(output) > 1000 {
			output = append(output[:1000], "...\n"...)
		}
		return fmt.Errorf("npm ci: %w\n%s(the packages come from npm's registry: is it reachable?)", err, output)
	}
	// A lock file that lists no package makes no node_modules.
	if !complete(part) {
		return errors.New("npm ci installed nothing: package-lock.json lists no packages")
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(part, dir)
}
