package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cgroups are the hierarchies of control groups that are mounted: one for each controller in version 1, one for all in
// version 2. A machine may have both; then version 1 counts.
type cgroups struct {
	// version1 are mount points by controller, those without one under their name; unified is version 2's mount point.
	version1 map[string]string
	unified  string
}

// needed are the controllers that a kubelet asks for.
var (
	neededVersion1 = []string{"cpu", "cpuacct", "cpuset", "memory", "pids", "devices", "freezer", "blkio"}
	neededVersion2 = []string{"cpu", "cpuset", "memory", "pids", "io"}
)

// readCgroups takes the content of /proc/mounts.
func readCgroups(mounts string) cgroups {
	c := cgroups{version1: make(map[string]string)}
	for line := range strings.Lines(mounts) {
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue
		}
		switch fields[2] {
		case "cgroup":
			for option := range strings.SplitSeq(fields[3], ",") {
				name := strings.TrimPrefix(option, "name=")
				if slices.Contains(neededVersion1, option) || name != option {
					c.version1[name] = fields[1]
				}
			}
		case "cgroup2":
			c.unified = fields[1]
		}
	}
	return c
}

// check says what is missing.
func (c cgroups) check() error {
	if len(c.version1) > 0 {
		var missing []string
		for _, controller := range neededVersion1 {
			if c.version1[controller] == "" {
				missing = append(missing, controller)
			}
		}
		if missing != nil {
			return fmt.Errorf("cgroup version 1 lacks the controllers %s: mount them, or boot with version 2", strings.Join(missing, ", "))
		}
		return nil
	}
	if c.unified == "" {
		return errors.New("no control groups are mounted: mount cgroup2 on /sys/fs/cgroup")
	}
	content, err := os.ReadFile(filepath.Join(c.unified, "cgroup.controllers"))
	if err != nil {
		return err
	}
	for _, controller := range neededVersion2 {
		if !slices.Contains(strings.Fields(string(content)), controller) {
			return fmt.Errorf("cgroup version 2 lacks the controller %s here: run this where it is delegated, or on the machine itself", controller)
		}
	}
	return nil
}

// roots are the mount points, each once.
func (c cgroups) roots() []string {
	var roots []string
	for _, root := range c.version1 {
		if !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	if c.unified != "" {
		roots = append(roots, c.unified)
	}
	slices.Sort(roots)
	return roots
}

// create makes a group in every hierarchy, which the kubelet puts all pods under.
func (c cgroups) create(name string) error {
	for _, root := range c.roots() {
		if root == c.unified && len(c.version1) == 0 {
			// A group can control only what its parent hands down.
			hand := "+" + strings.Join(neededVersion2, " +")
			if err := os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte(hand), 0o600); err != nil {
				return fmt.Errorf("hand controllers down: %w (processes in a container's own root group prevent it)", err)
			}
		}
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			return err
		}
	}
	cpuset := c.version1["cpuset"]
	if cpuset == "" {
		return nil
	}
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} { // empty in a new group, so that nothing could run in it
		content, err := os.ReadFile(filepath.Join(cpuset, file))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(cpuset, name, file), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// remove removes the group everywhere, with all that are in it. Its processes must have ended; the kernel may take a moment
// to notice.
func (c cgroups) remove(name string) error {
	var err error
	for range 50 {
		err = nil
		for _, root := range c.roots() {
			err = errors.Join(err, removeGroup(filepath.Join(root, name)))
		}
		if err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

func removeGroup(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeGroup(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := os.Remove(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
