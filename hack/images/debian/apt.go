// Package debian makes image layers of Debian packages, with neither root nor a daemon: apt chooses and fetches them from the
// machine's own sources, for any architecture that those have, and their files are packed as they are. Their scripts aren't
// run, so what a package does when it is configured is the caller's business.
package debian

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Repository is where packages for one architecture come from. It has lists and files of its own: nothing of the machine's
// packages is changed, or counts.
type Repository struct {
	dir, architecture string
}

// Open reads the lists of packages for an architecture, such as arm64, into a directory that is the Repository's alone.
// Packages in without count as installed, so that they and what they alone need are left out.
func Open(ctx context.Context, dir, architecture string, sources Sources, without []string) (*Repository, error) {
	r := &Repository{dir: dir, architecture: architecture}
	for _, sub := range []string{"sources", "none", "state/lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	if _, err := sources.Write(filepath.Join(dir, "sources")); err != nil {
		return nil, err
	}
	var status strings.Builder
	for _, name := range without {
		fmt.Fprintf(&status, "Package: %s\nStatus: install ok installed\nVersion: 99:0\nArchitecture: all\nMulti-Arch: foreign\n"+
			"Maintainer: nobody\nDescription: left out\n\n", name)
	}
	// Only a file can set a list.
	config := fmt.Sprintf("APT::Architectures { \"%s\"; };\n", architecture)
	for name, content := range map[string]string{"status": status.String(), "apt.conf": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return nil, err
		}
	}
	_, err := r.apt(ctx, "update", "-qq", "--error-on=any")
	return r, err
}

// Package is one version of a package.
type Package struct {
	// File is its name in the directory that Fetch returns, as in libc6_2.36-9_amd64.deb, Hash what its content's is.
	File, Hash string
}

// Resolve returns the packages of these names and all that they need, sorted by File. Recommendations aren't needs.
func (r *Repository) Resolve(ctx context.Context, names []string) ([]Package, error) {
	out, err := r.apt(ctx, append([]string{"install", "-qq", "--print-uris", "-o", "Acquire::ForceHash=SHA256"}, names...)...)
	if err != nil {
		return nil, err
	}
	var all []Package
	for line := range strings.Lines(out) {
		// 'ADDRESS' FILE SIZE ALGORITHM:HASH
		fields := strings.Fields(line)
		if len(fields) != 4 || !strings.HasPrefix(fields[3], "SHA256:") {
			return nil, fmt.Errorf("apt-get --print-uris says %q, which isn't understood", line)
		}
		all = append(all, Package{File: fields[1], Hash: fields[3]})
	}
	slices.SortFunc(all, func(a, b Package) int { return strings.Compare(a.File, b.File) })
	if len(all) < len(names) {
		return nil, fmt.Errorf("apt knows %d packages of %q", len(all), names)
	}
	return all, nil
}

// Fetch downloads what Resolve returns for the same names, into the directory that it returns. apt checks signatures and hashes.
func (r *Repository) Fetch(ctx context.Context, names []string) (dir string, err error) {
	_, err = r.apt(ctx, append([]string{"install", "-qq", "--download-only"}, names...)...)
	return filepath.Join(r.dir, "cache", "archives"), err
}

// Clean deletes what Fetch downloaded.
func (r *Repository) Clean(ctx context.Context) error {
	_, err := r.apt(ctx, "clean")
	return err
}

// apt runs apt-get on the Repository's directory and returns what it printed.
func (r *Repository) apt(ctx context.Context, args ...string) (string, error) {
	program, err := exec.LookPath("apt-get")
	if err != nil {
		return "", errors.New("apt-get is not on PATH: run this on Debian")
	}
	in := func(name string) string { return filepath.Join(r.dir, name) }
	settings := []string{
		"-y",
		"-o", "Dir::State=" + in("state"), "-o", "Dir::State::status=" + in("status"), "-o", "Dir::Cache=" + in("cache"),
		"-o", "Dir::Etc::sourcelist=" + in("none/list"), "-o", "Dir::Etc::sourceparts=" + in("sources"),
		"-o", "Dir::Etc::preferences=" + in("none/preferences"), "-o", "Dir::Etc::preferencesparts=" + in("none"),
		"-o", "APT::Architecture=" + r.architecture, "-o", "APT::Install-Recommends=false", "-o", "APT::Default-Release=",
		"-o", "Acquire::Languages=none", "-o", "Acquire::Retries=3",
		// Root's apt would download as a user who mayn't write here.
		"-o", "APT::Sandbox::User=root",
	}
	command := exec.CommandContext(ctx, program, append(settings, args...)...)
	command.Env = append(os.Environ(), "APT_CONFIG="+in("apt.conf"), "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive")
	command.WaitDelay = 10 * time.Second
	out, err := command.Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w\n%s", err, failed.Stderr)
		}
		return "", fmt.Errorf("apt-get %s for %s: %w", args[0], r.architecture, err)
	}
	return string(out), nil
}
