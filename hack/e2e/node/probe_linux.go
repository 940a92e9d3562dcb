package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// programs of the machine that a node runs on, with their Debian packages.
var programs = []struct{ name, in string }{
	{"containerd", "containerd"},
	{"containerd-shim-runc-v2", "containerd"},
	{"ctr", "containerd"},
	{"runc", "runc"},
	{"nft", "nftables"},
	{"ip", "iproute2"},
	{"mount", "mount"},
}

// pluginDirs are where distributions put the CNI plugins.
var pluginDirs = []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}

// plugins are those in use.
var plugins = []string{"ptp", "host-local", "loopback"}

// neededBytes is what a run takes with the images, unpacked, and the logs: 1.9 GB were measured, and some more is left for other machines.
const neededBytes = 5 << 29

// searchPath is the caller's with the folders of administrators, which a shell may lack.
func searchPath() string {
	return os.Getenv("PATH") + ":/usr/local/sbin:/usr/sbin:/sbin"
}

// find returns a program's path.
func find(name string) (string, error) {
	for dir := range strings.SplitSeq(searchPath(), ":") {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); filepath.IsAbs(path) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no program %s", name)
}

func pluginDir() (string, error) {
	for _, dir := range pluginDirs {
		missing := false
		for _, plugin := range plugins {
			if _, err := os.Stat(filepath.Join(dir, plugin)); err != nil {
				missing = true
			}
		}
		if !missing {
			return dir, nil
		}
	}
	return "", fmt.Errorf("the CNI plugins %s are in none of %s: install containernetworking-plugins",
		strings.Join(plugins, ", "), strings.Join(pluginDirs, ", "))
}

// Probe says everything that keeps this machine from running a real node, and what to do about it. It changes nothing.
func Probe(ctx context.Context) error {
	if os.Geteuid() != 0 {
		return cannot([]error{errors.New("this isn't root: namespaces, mounts and control groups need it (use sudo, or a virtual machine)")})
	}
	var missing []error
	for _, p := range programs {
		if _, err := find(p.name); err != nil {
			missing = append(missing, fmt.Errorf("%w: install %s", err, p.in))
		}
	}
	if _, err := pluginDir(); err != nil {
		missing = append(missing, err)
	}
	dir, err := os.MkdirTemp("", "boardwalk-probe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, err := range []error{probeCgroups(filepath.Base(dir)), probeDisk(dir), probeNamespaces(ctx), probeOverlay(dir)} {
		if err != nil {
			missing = append(missing, err)
		}
	}
	return cannot(missing)
}

func cannot(reasons []error) error {
	if len(reasons) == 0 {
		return nil
	}
	lines := make([]string, len(reasons))
	for i, reason := range reasons {
		lines[i] = "\n- " + reason.Error()
	}
	return errors.New("this machine can't run a Kubernetes node (hack/setup.sh installs the programs):" + strings.Join(lines, ""))
}

func probeCgroups(name string) error {
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return err
	}
	groups := readCgroups(string(mounts))
	if err := groups.check(); err != nil {
		return err
	}
	if err := errors.Join(groups.create(name), groups.remove(name)); err != nil {
		return fmt.Errorf("control groups can't be made: %w", err)
	}
	return nil
}

func probeDisk(dir string) error {
	for _, hidden := range hiddenDirs {
		if strings.HasPrefix(dir, hidden+"/") {
			return fmt.Errorf("temporary files can't be under %s, which the node has one of its own of: set TMPDIR to another directory", hidden)
		}
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return err
	}
	if free := int64(disk.Bavail) * disk.Bsize; free < neededBytes {
		return fmt.Errorf("%s has %.1f GB free, a run needs %.1f: set TMPDIR to a larger disk", filepath.Dir(dir), float64(free)/1e9, neededBytes/1e9)
	}
	return nil
}

func probeNamespaces(ctx context.Context) error {
	command := exec.CommandContext(ctx, "/bin/true")
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:   unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC,
		Unshareflags: unix.CLONE_NEWNS,
	}
	if err := command.Run(); err != nil {
		return fmt.Errorf("namespaces can't be made: %w (a container needs to be privileged)", err)
	}
	return nil
}

// probeOverlay mounts where the images' layers will be, in a mount namespace that ends with its thread.
func probeOverlay(dir string) error {
	for _, sub := range []string{"lower", "upper", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			return err
		}
	}
	err := onOwnThread(func() error {
		if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
			return err
		}
		if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return err
		}
		return mountOverlay(filepath.Join(dir, "lower"), dir, filepath.Join(dir, "merged"))
	})
	if err != nil {
		return fmt.Errorf("overlayfs can't be mounted in %s: %w (set TMPDIR to a directory on ext4 or xfs)", filepath.Dir(dir), err)
	}
	return nil
}

// mountOverlay shows lower at target; what is written there lands in dir.
func mountOverlay(lower, dir, target string) error {
	options := "lowerdir=" + lower + ",upperdir=" + filepath.Join(dir, "upper") + ",workdir=" + filepath.Join(dir, "work")
	return unix.Mount("overlay", target, "overlay", 0, options)
}
