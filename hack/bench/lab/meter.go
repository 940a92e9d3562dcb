package lab

import (
	"errors"
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

// Process is something that is accounted for apart.
type Process interface{ Usage() (UsageNow, error) }

// Reading is the CPU time that was used while something ran.
type Reading struct {
	Wall time.Duration
	// Server is of the process that is measured, Load of this one, Database of a database server.
	Server, Load, Database time.Duration
	// Own is of this process and all its descendants, All of the whole machine.
	Own, All time.Duration
	// Begun and Ended are the measured process before and after.
	Begun, Ended UsageNow
}

// Cores is a CPU time of the reading in cores.
func (r *Reading) Cores(cpu time.Duration) float64 { return cpu.Seconds() / r.Wall.Seconds() }

// Others is what other programs used meanwhile, in cores. Without it a figure of a shared machine can't be judged.
func (r *Reading) Others() float64 { return max(0, r.Cores(r.All-r.Own)) }

// Meter runs f and reads what a process, a database server, this process and the machine used meanwhile. The first two may be nil.
func Meter(p Process, database *Postgres, f func() error) (*Reading, error) {
	before, err := usedSoFar(p, database)
	if err != nil {
		return nil, err
	}
	began := Now()
	if err := f(); err != nil {
		return nil, err
	}
	wall := Now().Sub(began)
	r, err := usedSoFar(p, database)
	r.Wall, r.Begun = wall, before.Ended
	r.Server, r.Load, r.Database = r.Server-before.Server, r.Load-before.Load, r.Database-before.Database
	r.Own, r.All = r.Own-before.Own, r.All-before.All
	return &r, err
}

func usedSoFar(p Process, database *Postgres) (r Reading, err error) {
	if p != nil {
		if r.Ended, err = p.Usage(); err != nil {
			return r, err
		}
	}
	if database != nil {
		if r.Database, err = database.CPU(); err != nil {
			return r, err
		}
	}
	u, own := ownUsage()
	tree, inTree := TreeCPU(os.Getpid())
	all, inAll := machineCPU()
	r.Server, r.Load, r.Own, r.All = r.Ended.CPU, u.CPU, tree, all
	return r, errors.Join(own, inTree, inAll)
}

// Joined is several readings of one process, one after the other.
func Joined(list []*Reading) *Reading {
	out := &Reading{Begun: list[0].Begun, Ended: list[len(list)-1].Ended}
	for _, r := range list {
		out.Wall += r.Wall
		out.Server, out.Load, out.Database = out.Server+r.Server, out.Load+r.Load, out.Database+r.Database
		out.Own, out.All = out.Own+r.Own, out.All+r.All
	}
	return out
}
