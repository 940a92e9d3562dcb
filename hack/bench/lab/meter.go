package lab

import (
	"fmt"
	"os"
	"runtime/metrics"
	"syscall"
	"time"
)

// UsageNow is what a process has used up to now, and holds.
type UsageNow struct {
	CPU time.Duration
	// Resident and Peak are the memory that the process has in use and the most it ever had; Heap is what lives of it
	// on Go's heap, garbage included. In bytes.
	Resident, Peak, Heap int64
}

func ownUsage() (u UsageNow, err error) {
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

// OthersMeter tells what other programs than this one and its descendants use.
type OthersMeter struct {
	began    time.Time
	all, own time.Duration
}

// StartOthers begins to tell them.
func StartOthers() (m OthersMeter, err error) {
	m.began = Now()
	if m.all, err = MachineCPU(); err != nil {
		return m, err
	}
	m.own, err = TreeCPU(os.Getpid())
	return m, err
}

// Cores are those that this program, with its descendants, and others used on average since.
func (m OthersMeter) Cores() (own, others float64, err error) {
	at, err := StartOthers()
	if err != nil {
		return 0, 0, err
	}
	wall := at.began.Sub(m.began).Seconds()
	own = (at.own - m.own).Seconds()
	return own / wall, max(0, (at.all-m.all).Seconds()-own) / wall, nil
}

// Reading is what was used while something ran.
type Reading struct {
	Wall time.Duration
	// Server is the CPU time of the server's process, load that of this one, database that of a database server.
	Server, Load, Database time.Duration
	// Others is what other programs used meanwhile, in cores. Without it a figure of a shared machine can't be judged.
	Others float64
	// begun and ended are the server's process before and after.
	begun, Ended UsageNow
}

// Meter runs f and reads what a server, this process and everybody else used meanwhile. Without a server, and with no
// server of a database, it reads the rest.
func Meter(s *Served, d *Database, f func() error) (*Reading, error) {
	var r Reading
	read := func(server *UsageNow) (own, rows time.Duration, err error) {
		if s != nil {
			if *server, err = s.Usage(); err != nil {
				return 0, 0, err
			}
		}
		if d != nil && d.postgres != nil {
			if rows, err = d.postgres.CPU(); err != nil {
				return 0, 0, err
			}
		}
		u, err := ownUsage()
		return u.CPU, rows, err
	}
	others, err := StartOthers()
	if err != nil {
		return nil, err
	}
	own, rows, err := read(&r.begun)
	if err != nil {
		return nil, err
	}
	began := Now()
	if err := f(); err != nil {
		return nil, err
	}
	r.Wall = Now().Sub(began)
	ownAfter, rowsAfter, err := read(&r.Ended)
	if err != nil {
		return nil, err
	}
	r.Server, r.Load, r.Database = r.Ended.CPU-r.begun.CPU, ownAfter-own, rowsAfter-rows
	_, r.Others, err = others.Cores()
	return &r, err
}

// Joined is several readings of one server, one after the other.
func Joined(list []*Reading) *Reading {
	out := &Reading{begun: list[0].begun, Ended: list[len(list)-1].Ended}
	for _, r := range list {
		out.Wall += r.Wall
		out.Server, out.Load, out.Database = out.Server+r.Server, out.Load+r.Load, out.Database+r.Database
		out.Others += r.Others * r.Wall.Seconds()
	}
	out.Others /= out.Wall.Seconds()
	return out
}
