// Package keyfile reads files with the SHA-256 of keys that callers present, and reads them again when they change.
package keyfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

const (
	// LongestKey is longer than any key: more isn't worth hashing.
	LongestKey = 256
	// largestFile is room for 200,000 keys: more is another file.
	largestFile = 16 << 20
	// lookEvery is how often the file is looked at.
	lookEvery = 2 * time.Second
)

// File is a file of keys, of which only the SHA-256 are known. It has one key a line: 64 hexadecimal digits, then perhaps a space and a name for
// humans. Blank lines and lines that begin with # are skipped.
//
//	printf %s "$KEY" | sha256sum >> keys
type File struct {
	path string
	// what the keys are, as in "builder keys".
	what string
	log  *slog.Logger
	sums atomic.Pointer[map[[sha256.Size]byte]struct{}]

	// Of Run alone, once it runs:
	loaded   os.FileInfo // the file that the keys are from
	changed  os.FileInfo // a file that is another, as it was at the last look
	reported string      // the error that was logged of it
}

// Open reads the keys in a file; what they are, as in "builder keys", stands in errors and in the log. Errors name the file and the line, but never
// repeat what stands there: it may be a key, where its SHA-256 should be.
func Open(path, what string, log *slog.Logger) (*File, error) {
	k := &File{path: path, what: what, log: log}
	if err := k.load(); err != nil {
		return nil, err
	}
	return k, nil
}

// Run reads the file again when it changed, or when another is in its place, until ctx ends. A file that can't be read, or
// has an error, is logged once, and the former keys stay.
//
// A changed file is read when it looks the same at two looks, 2 s apart: one that is being written might do without the
// keys that are not in it yet.
func (k *File) Run(ctx context.Context) {
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			k.look(ctx)
		}
	}
}

// Find tells whether a key is one of them, and its SHA-256. The time that it takes says nothing of the keys: what is
// compared are hashes, of which nobody can choose a part.
func (k *File) Find(presented string) (sum [sha256.Size]byte, ok bool) {
	if k == nil || len(presented) > LongestKey {
		return sum, false
	}
	var b [LongestKey]byte // on the stack, as []byte(presented) wouldn't be
	sum = sha256.Sum256(b[:copy(b[:], presented)])
	_, ok = (*k.sums.Load())[sum]
	return sum, ok
}

// Len is how many keys there are.
func (k *File) Len() int { return len(*k.sums.Load()) }

// look compares the file with the one that was read last. A Secret in Kubernetes is changed by turning a symbolic link in
// the file's path to another directory; so it is the file at the end that counts.
func (k *File) look(ctx context.Context) {
	info, err := os.Stat(k.path)
	if err != nil {
		k.report(ctx, err)
		return
	}
	if same(info, k.loaded) {
		k.changed, k.reported = nil, ""
		return
	}
	if k.changed == nil || !same(info, k.changed) {
		k.changed, k.reported = info, ""
		return
	}
	if err := k.load(); err != nil {
		k.report(ctx, err)
		return
	}
	k.changed, k.reported = nil, ""
	k.log.InfoContext(ctx, "keys read anew", "keys", k.what, "count", k.Len())
}

func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func (k *File) report(ctx context.Context, err error) {
	if text := err.Error(); text != k.reported {
		k.reported = text
		k.log.WarnContext(ctx, "keys not read anew, the former ones stay", "keys", k.what, "err", text)
	}
}

func (k *File) load() error {
	f, err := os.Open(k.path)
	if err != nil {
		return fmt.Errorf("open the file of %s: %w", k.what, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat() // before it is read: a change that comes after is seen at the next look
	if err != nil {
		return fmt.Errorf("open the file of %s: %w", k.what, err)
	}
	content, err := io.ReadAll(io.LimitReader(f, largestFile+1))
	if err != nil {
		return fmt.Errorf("read the file of %s: %w", k.what, err)
	}
	if len(content) > largestFile {
		return fmt.Errorf("%s: is no file of %s: allowed are %d MiB", k.path, k.what, largestFile>>20)
	}
	sums, err := parseKeys(k.path, content)
	if err != nil {
		return err
	}
	k.sums.Store(&sums)
	k.loaded = info
	return nil
}

var errKeyLine = errors.New("is no SHA-256 of a key (the line isn't repeated here, for it may hold one); allowed: its SHA-256 as 64 " +
	"hexadecimal digits, then perhaps a space and a name; a blank line; a line that begins with #")

func parseKeys(path string, content []byte) (map[[sha256.Size]byte]struct{}, error) {
	sums := make(map[[sha256.Size]byte]struct{})
	n := 0
	for line := range bytes.Lines(content) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		digits := line
		if end := bytes.IndexAny(line, " \t"); end >= 0 {
			digits = line[:end]
		}
		var sum [sha256.Size]byte
		if len(digits) != hex.EncodedLen(len(sum)) {
			return nil, fmt.Errorf("%s:%d: %w", path, n, errKeyLine)
		}
		if _, err := hex.Decode(sum[:], digits); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, errKeyLine) // hex's error repeats a character
		}
		sums[sum] = struct{}{}
	}
	return sums, nil
}
