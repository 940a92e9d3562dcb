package build

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Checkout is what an image says about the sources that it was made of.
type Checkout struct {
	Root string
	// Commit is HEAD's hash; changes that aren't committed show in Version alone.
	Commit string
	// Built is HEAD's time rather than the clock's, so that a commit always gives the same bytes.
	Built   time.Time
	Version string
}

// ReadCheckout reads the checkout that the working directory is in.
func ReadCheckout(ctx context.Context) (Checkout, error) {
	root, err := git(ctx, "", "rev-parse", "--show-toplevel")
	if err != nil {
		return Checkout{}, fmt.Errorf("find the checkout: %w (images are made of a git checkout)", err)
	}
	c := Checkout{Root: root}
	if c.Commit, err = git(ctx, root, "rev-parse", "HEAD"); err != nil {
		return Checkout{}, err
	}
	when, err := git(ctx, root, "log", "-1", "--format=%cI")
	if err != nil {
		return Checkout{}, err
	}
	if c.Built, err = time.Parse(time.RFC3339, when); err != nil {
		return Checkout{}, fmt.Errorf("the commit's time: %w", err)
	}
	c.Version, err = git(ctx, root, "describe", "--tags", "--always", "--dirty")
	return c, err
}

// Changes are the files that differ from the commit, and those that git doesn't know and isn't told to ignore.
func (c Checkout) Changes(ctx context.Context) ([]string, error) {
	out, err := git(ctx, c.Root, "status", "--porcelain")
	if err != nil || out == "" {
		return nil, err
	}
	var changes []string
	for line := range strings.Lines(out) {
		changes = append(changes, strings.TrimSpace(line))
	}
	return changes, nil
}

// Files are those of a directory that git knows, slash-separated and relative to it.
func (c Checkout) Files(ctx context.Context, dir string) ([]string, error) {
	out, err := git(ctx, dir, "ls-files", "-z")
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}

// git runs git in a directory and returns what it printed, without the line's end.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = dir
	out, err := command.Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(failed.Stderr)))
		}
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
