package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// processOf is what the kernel says of a process.
type processOf struct {
	pid, parent int
	// cpu has that of descendants in it which ended and were waited for.
	cpu time.Duration
}

// parseProcess reads /proc/PID/stat.
func parseProcess(raw []byte) (p processOf, err error) {
	// "pid (name) state parent …", and a name may hold anything.
	begin, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	const parent, user, children = 1, 11, 14 // of the fields behind the name; user to children are four
	if begin < 0 || end < begin {
		return p, fmt.Errorf("%.40q has no name", raw)
	}
	fields := bytes.Fields(raw[end+1:])
	if len(fields) <= children {
		return p, fmt.Errorf("%.40q has %d fields behind the name", raw, len(fields))
	}
	number := func(field []byte) int {
		n, e := strconv.Atoi(string(field))
		err = errors.Join(err, e)
		return n
	}
	p.pid, p.parent = number(bytes.TrimSpace(raw[:begin])), number(fields[parent])
	for _, f := range fields[user : children+1] {
		p.cpu += time.Duration(number(f)) * time.Second / ticksPerSecond
	}
	return p, err
}

// ticksPerSecond is the kernel's unit of CPU time.
const ticksPerSecond = 100

// processesNow lists all processes. One that ends meanwhile is left out.
func processesNow() ([]processOf, error) {
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errors.New("there is no /proc to read CPU and memory from: run it on Linux")
	}
	var all []processOf
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it is gone
		}
		p, err := parseProcess(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// treeOf are a process and its descendants.
func treeOf(root int, all []processOf) []processOf {
	children := map[int][]processOf{}
	var tree []processOf
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
		if p.pid == root {
			tree = append(tree, p)
		}
	}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i].pid]...)
	}
	return tree
}

// treeCPU is what a process and its descendants have used.
func treeCPU(root int) (sum time.Duration, err error) {
	all, err := processesNow()
	if err != nil {
		return 0, err
	}
	for _, p := range treeOf(root, all) {
		sum += p.cpu
	}
	return sum, nil
}

// treeMemory is what a process and its descendants hold in bytes, shared pages counted once (PSS), and how many they are.
func treeMemory(root int) (held int64, processes int, err error) {
	all, err := processesNow()
	if err != nil {
		return 0, 0, err
	}
	for _, p := range treeOf(root, all) {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p.pid))
		switch {
		case errors.Is(err, os.ErrPermission):
			return 0, 0, fmt.Errorf("%w (a browser in its sandbox shows its memory to root alone)", err)
		case err != nil:
			continue // it is gone
		}
		held += kilobytes(raw, "\nPss:")
		processes++
	}
	return held, processes, nil
}
