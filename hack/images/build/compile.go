package build

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// machines are the architectures that images are made for.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// ParsePlatforms reads a list such as linux/amd64,linux/arm64.
func ParsePlatforms(list string) ([]v1.Platform, error) {
	var platforms []v1.Platform
	for text := range strings.SplitSeq(list, ",") {
		system, arch, _ := strings.Cut(strings.TrimSpace(text), "/")
		if _, known := machines[arch]; system != "linux" || !known {
			return nil, fmt.Errorf("%q is no platform that images are made for: there are linux/amd64 and linux/arm64", text)
		}
		p := v1.Platform{OS: system, Architecture: arch}
		if slices.ContainsFunc(platforms, p.Equals) {
			return nil, fmt.Errorf("%s is listed twice", p)
		}
		platforms = append(platforms, p)
	}
	return platforms, nil
}

// ldflags tells the program what it is, and leaves out what only a debugger reads, a third of the file. Names of functions in
// traces and profiles stay.
func ldflags(c Checkout) string {
	return "-s -w -X main.commit=" + c.Commit + " -X main.built=" + c.Built.Format(time.RFC3339)
}

// Compile builds a package of the checkout for a platform and returns the program, which needs nothing but the kernel.
func Compile(ctx context.Context, c Checkout, pkg string, p v1.Platform) ([]byte, error) {
	dir, err := os.MkdirTemp("", "boardwalk-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "program")
	// What the caller's environment says about the target would make other bytes.
	environment := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Architecture,
		"GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off")
	// The hash is in ldflags; that of -buildvcs would differ by whether files lie about that git doesn't know.
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags(c), "-o", path, pkg)
	command.Dir, command.Env = c.Root, environment
	if out, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build for %s: %w\n%s", p, err, out)
	}
	if err := checkProgram(path, p); err != nil {
		return nil, fmt.Errorf("the program built for %s: %w", p, err)
	}
	return os.ReadFile(path)
}

// checkProgram makes sure that the platform can run the program in an empty image.
func checkProgram(path string, p v1.Platform) error {
	file, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if want := machines[p.Architecture]; file.Machine != want {
		return fmt.Errorf("is one for %s, not for %s", file.Machine, want)
	}
	if slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return errors.New("needs a dynamic linker, which the image doesn't have: is CGO_ENABLED=0 in force?")
	}
	return nil
}
