package node

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const version1 = `tmpfs /sys/fs/cgroup tmpfs rw 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0
cgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0
cgroup /sys/fs/cgroup/devices cgroup rw,devices 0 0
cgroup /sys/fs/cgroup/freezer cgroup rw,freezer 0 0
cgroup /sys/fs/cgroup/systemd cgroup rw,xattr,name=systemd 0 0
`

func TestCgroupsVersion1(t *testing.T) {
	t.Parallel()
	groups := readCgroups(version1)
	if err := groups.check(); err == nil || !strings.Contains(err.Error(), "blkio") {
		t.Errorf("without blkio: %v", err)
	}
	groups = readCgroups(version1 + "cgroup /sys/fs/cgroup/blkio cgroup rw,blkio 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n")
	if err := groups.check(); err != nil {
		t.Error(err)
	}
	want := []string{"blkio", "cpu,cpuacct", "cpuset", "devices", "freezer", "memory", "pids", "systemd", "unified"}
	for i := range want {
		want[i] = "/sys/fs/cgroup/" + want[i]
	}
	if got := groups.roots(); !slices.Equal(got, want) {
		t.Errorf("groups are made in %q", got)
	}
	if err := readCgroups("").check(); err == nil || !strings.Contains(err.Error(), "mount cgroup2") {
		t.Errorf("without any: %v", err)
	}
}

func TestCgroupsVersion2(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	groups := readCgroups("cgroup2 " + root + " cgroup2 rw 0 0\n")
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("cgroup.controllers", "cpu memory pids\n")
	if err := groups.check(); err == nil || !strings.Contains(err.Error(), "cpuset") {
		t.Errorf("without cpuset: %v", err)
	}
	write("cgroup.controllers", "cpuset cpu io memory pids\n")
	if err := groups.check(); err != nil {
		t.Error(err)
	}
	if err := groups.create("run"); err != nil {
		t.Fatal(err)
	}
	handed, err := os.ReadFile(filepath.Join(root, "cgroup.subtree_control"))
	if err != nil || !strings.Contains(string(handed), "+memory") {
		t.Errorf("handed down is %q, %v", handed, err)
	}
	if err := os.MkdirAll(filepath.Join(root, "run", "kubepods", "pod"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := groups.remove("run"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(root, "run")); !os.IsNotExist(err) {
		t.Errorf("the group is still there: %v", err)
	}
}
