package main

import (
	"fmt"
	"os"
	"time"
)

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
	type used struct{ own, server, database, all time.Duration }
	read := func(server *usageNow) (u used, err error) {
		if s != nil {
			if *server, err = s.usage(); err != nil {
				return u, err
			}
		}
		if d != nil && d.postgres != nil {
			u.database = d.postgres.cpu()
		}
		own, err := ownUsage()
		u.own, u.server, u.all = own.CPU, server.CPU, machineBusy()
		return u, err
	}
	before, err := read(&r.begun)
	if err != nil {
		return nil, err
	}
	began := now()
	if err := f(); err != nil {
		return nil, err
	}
	r.wall = now().Sub(began)
	after, err := read(&r.ended)
	if err != nil {
		return nil, err
	}
	r.server, r.load, r.database = after.server-before.server, after.own-before.own, after.database-before.database
	r.others = max(0, (after.all-before.all-r.server-r.load-r.database).Seconds()/r.wall.Seconds())
	return &r, nil
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

// machineBusy is what all processes of the machine have used so far; 0 where there is no /proc.
func machineBusy() time.Duration {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	var user, nice, system, idle, wait, irq, soft, steal int64
	if _, err := fmt.Sscanf(string(raw), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal); err != nil {
		return 0
	}
	return time.Duration(user+nice+system+irq+soft+steal) * time.Second / ticksPerSecond
}
