package lab

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/procfs"
)

// descendants are a process and what descends from it.
func descendants(root int, all []procfs.ProcStat) []procfs.ProcStat {
	children := map[int][]procfs.ProcStat{}
	var tree []procfs.ProcStat
	for i := range all {
		children[all[i].PPID] = append(children[all[i].PPID], all[i])
		if all[i].PID == root {
			tree = append(tree, all[i])
		}
	}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i].PID]...)
	}
	return tree
}

// treeNow are a process and what descends from it now.
func treeNow(root int) ([]procfs.ProcStat, error) {
	list, err := procfs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("%w: CPU and memory are read on Linux alone", err)
	}
	var all []procfs.ProcStat
	for _, p := range list {
		if s, err := p.Stat(); err == nil { // else it is gone
			all = append(all, s)
		}
	}
	return descendants(root, all), nil
}

// TreeCPU is what a process and its descendants have used, those that ended and were waited for among them.
func TreeCPU(root int) (sum time.Duration, err error) {
	tree, err := treeNow(root)
	for i := range tree {
		const ticksPerSecond = 100 // USER_HZ, on every Linux that Go runs on
		s := &tree[i]
		sum += time.Duration(int(s.UTime)+int(s.STime)+s.CUTime+s.CSTime) * time.Second / ticksPerSecond
	}
	return sum, err
}

// TreeMemory is what a process and its descendants hold in bytes, shared pages counted once (PSS), and how many they are.
func TreeMemory(root int) (held int64, processes int, err error) {
	tree, err := treeNow(root)
	if err != nil {
		return 0, 0, err
	}
	for i := range tree {
		p, err := procfs.NewProc(tree[i].PID)
		if err != nil {
			continue // it is gone
		}
		rollup, err := p.ProcSMapsRollup()
		switch {
		case errors.Is(err, os.ErrPermission):
			return 0, 0, fmt.Errorf("%w (a browser in its sandbox shows its memory to root alone)", err)
		case err != nil:
			continue // it is gone
		}
		held += int64(rollup.Pss)
		processes++
	}
	return held, processes, nil
}

// memoryOf is what a process has in memory and the most it ever had, in bytes; 0 of one that is gone.
func memoryOf(pid int) (resident, peak int64) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, 0
	}
	status, err := p.NewStatus()
	if err != nil {
		return 0, 0
	}
	return int64(status.VmRSS), int64(status.VmHWM)
}

// machineCPU is what all processes of the machine have used so far.
func machineCPU() (time.Duration, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, err
	}
	all, err := fs.Stat()
	if err != nil {
		return 0, err
	}
	c := &all.CPUTotal
	return time.Duration((c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal) * float64(time.Second)), nil
}
