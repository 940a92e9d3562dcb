package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
)

// process is one process of the system, and its restarts: it comes back whenever it ends, as in a cluster.
type process struct {
	name string
	job  job
	log  string // its file

	mu     sync.Mutex
	cmd    *exec.Cmd
	in     io.WriteCloser
	frozen bool
	wanted bool
	clock  int64
	ended  chan struct{} // of the present cmd
}

func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = true
	return p.startLocked()
}

func (p *process) startLocked() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	j := p.job
	j.Clock = p.clock
	raw, err := json.Marshal(j)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(self) //nolint:noctx // it outlives what asks for it, and is ended by name
	cmd.Env = append(os.Environ(), childEnv+"="+string(raw))
	cmd.Stdout, cmd.Stderr = out, out
	if p.in, err = cmd.StdinPipe(); err != nil {
		return err
	}
	if err := dbserver.Start(cmd); err != nil {
		return err
	}
	ended := make(chan struct{})
	p.cmd, p.ended, p.frozen = cmd, ended, false
	go p.watch(cmd, ended)
	return nil
}

// watch starts the process anew when it ends, after a pause as a cluster's kubelet makes one.
func (p *process) watch(cmd *exec.Cmd, ended chan struct{}) {
	_ = cmd.Wait()
	close(ended)
	time.Sleep(300 * time.Millisecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wanted && p.cmd == cmd {
		_ = p.startLocked()
	}
}

// end ends the process in a way and waits until it is gone. It comes back.
func (p *process) end(how syscall.Signal) {
	p.mu.Lock()
	cmd, ended := p.cmd, p.ended
	_ = cmd.Process.Signal(how)
	if p.frozen {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		p.frozen = false
	}
	p.mu.Unlock()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		<-ended
	}
}

// stop ends the process for good.
func (p *process) stop() {
	p.mu.Lock()
	p.wanted = false
	p.mu.Unlock()
	p.end(syscall.SIGTERM)
}

func (p *process) freeze(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	how := syscall.SIGCONT
	if on {
		how = syscall.SIGSTOP
	}
	if p.frozen != on {
		_ = p.cmd.Process.Signal(how)
		p.frozen = on
	}
}

func (p *process) isFrozen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frozen
}

// setClock has the process's clock go d ahead of the machine's.
func (p *process) setClock(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock = int64(d)
	_, _ = fmt.Fprintln(p.in, p.clock) // one that has ended gets it at its start
}

// memory is its resident set in bytes; 0 when it has ended.
func (p *process) memory() int64 {
	p.mu.Lock()
	pid := p.cmd.Process.Pid
	p.mu.Unlock()
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	_, rest, found := strings.Cut(string(raw), "VmRSS:")
	if !found {
		return 0
	}
	kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		return 0
	}
	return kb << 10
}

var errPanicked = errors.New("a process panicked")

// panics says whether a process's log has a panic or a data race.
func (p *process) panics() error {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return err
	}
	for _, sign := range []string{"\npanic: ", "\nfatal error: ", "WARNING: DATA RACE"} {
		if at := strings.Index("\n"+string(raw), sign); at >= 0 {
			return fmt.Errorf("%w: %s: %.400s", errPanicked, p.name, string(raw)[max(at-1, 0):])
		}
	}
	return nil
}
