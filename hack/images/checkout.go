package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// checkout is what an image says about the sources that it was made of.
type checkout struct {
	root string
	// commit is HEAD's hash; changes that aren't committed show in version alone.
	commit string
	// built is HEAD's time rather than the clock's, so that a commit always gives the same bytes.
	built   time.Time
	version string
}

func readCheckout(ctx context.Context) (checkout, error) {
	root, err := git(ctx, "", "rev-parse", "--show-toplevel")
	if err != nil {
		return checkout{}, fmt.Errorf("find the checkout: %w (images are made of a git checkout)", err)
	}
	c := checkout{root: root}
	if c.commit, err = git(ctx, root, "rev-parse", "HEAD"); err != nil {
		return checkout{}, err
	}
	when, err := git(ctx, root, "log", "-1", "--format=%cI")
	if err != nil {
		return checkout{}, err
	}
	if c.built, err = time.Parse(time.RFC3339, when); err != nil {
		return checkout{}, fmt.Errorf("the commit's time: %w", err)
	}
	c.version, err = git(ctx, root, "describe", "--tags", "--always", "--dirty")
	return c, err
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
