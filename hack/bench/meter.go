package main

import (
	"fmt"
	"os"
	"runtime/metrics"
	"syscall"
	"time"
)

// usageNow is what a process has used up to now, and holds.
type usageNow struct {
	CPU time.Duration
	// Resident and Peak are the memory that the process has in use and the most it ever had; Heap is what lives of it
	// on Go's heap, garbage included. In bytes.
	Resident, Peak, Heap int64
}

func ownUsage() (u usageNow, err error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return u, fmt.Errorf("getrusage: %w", err)
	}
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	u.CPU, u.Heap = time.Duration(r.Utime.Nano()+r.Stime.Nano()), int64(heap[0].Value.Uint64())
	u.Resident, u.Peak = memoryOf(os.Getpid())
	return u, nil
}

// othersMeter tells what other programs than this one and its descendants use.
type othersMeter struct {
	began    time.Time
	all, own time.Duration
}

func startOthers() (m othersMeter, err error) {
	m.began = now()
	if m.all, err = machineCPU(); err != nil {
		return m, err
	}
	m.own, err = treeCPU(os.Getpid())
	return m, err
}

// cores are those that this program, with its descendants, and others used on average since.
func (m othersMeter) cores() (own, others float64, err error) {
	at, err := startOthers()
	if err != nil {
		return 0, 0, err
	}
	wall := at.began.Sub(m.began).Seconds()
	own = (at.own - m.own).Seconds()
	return own / wall, max(0, (at.all-m.all).Seconds()-own) / wall, nil
}

// reading is what was used while something ran.
type reading struct {
	wall time.Duration
	// server is the CPU time of the server's process, load that of this one, database that of a database server.
	server, load, database time.Duration
	// others is what other programs used meanwhile, in cores. Without it a figure of a shared machine can't be judged.
	others float64
	// begun and ended are the server's process before and after.
	begun, ended usageNow
}

// meter runs f and reads what a server, this process and everybody else used meanwhile. Without a server, and with no
// server of a database, it reads the rest.
func meter(s *served, d *database, f func() error) (*reading, error) {
	var r reading
	read := func(server *usageNow) (own, rows time.Duration, err error) {
		if s != nil {
			if *server, err = s.usage(); err != nil {
				return 0, 0, err
			}
		}
		if d != nil && d.postgres != nil {
			if rows, err = d.postgres.cpu(); err != nil {
				return 0, 0, err
			}
		}
		u, err := ownUsage()
		return u.CPU, rows, err
	}
	others, err := startOthers()
	if err != nil {
		return nil, err
	}
	own, rows, err := read(&r.begun)
	if err != nil {
		return nil, err
	}
	began := now()
	if err := f(); err != nil {
		return nil, err
	}
	r.wall = now().Sub(began)
	ownAfter, rowsAfter, err := read(&r.ended)
	if err != nil {
		return nil, err
	}
	r.server, r.load, r.database = r.ended.CPU-r.begun.CPU, ownAfter-own, rowsAfter-rows
	_, r.others, err = others.cores()
	return &r, err
}

// joined is several readings of one server, one after the other.
func joined(list []*reading) *reading {
	out := &reading{begun: list[0].begun, ended: list[len(list)-1].ended}
	for _, r := range list {
		out.wall += r.wall
		out.server, out.load, out.database = out.server+r.server, out.load+r.load, out.database+r.database
		out.others += r.others * r.wall.Seconds()
	}
	out.others /= out.wall.Seconds()
	return out
}
