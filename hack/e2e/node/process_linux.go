package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// process is a long-running program of the node.
type process struct {
	name  string
	log   string // the file that it prints to
	ended chan struct{}
}

// start starts a program in the sandbox, with its output in a file of its own.
func (n *Node) start(name, program string, args ...string) error {
	p := &process{name: name, log: filepath.Join(n.dir, "log", name+".log"), ended: make(chan struct{})}
	file, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()                     // the program has its own
	command := n.program(program, args...) // it lives as long as the sandbox
	command.Stdout, command.Stderr = file, file
	if err := n.sandbox.start(command); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		_ = command.Wait()
		close(p.ended)
	}()
	n.processes = append(n.processes, p)
	return nil
}

// program is a command with the environment that the node's programs have: nothing of the caller's but where programs are.
func (n *Node) program(path string, args ...string) *exec.Cmd {
	command := exec.Command(path, args...) //nolint:noctx // the sandbox ends it
	command.Dir = n.dir
	command.Env = []string{"PATH=" + searchPath(), "HOME=" + n.dir, "TMPDIR=" + filepath.Join(n.dir, "tmp"), "LANG=C.UTF-8"}
	return command
}

// run runs a program in the sandbox to its end.
func (n *Node) run(path string, args ...string) (string, error) {
	return n.sandbox.run(n.program(path, args...))
}

// collect runs a command to its end, started by start, and returns what it printed to its output. Both outputs are in the
// error.
func collect(command *exec.Cmd, start func(*exec.Cmd) error) (string, error) {
	var out bytes.Buffer
	all := &printed{}
	command.Stdout, command.Stderr = io.MultiWriter(&out, all), all
	err := start(command)
	if err == nil {
		err = command.Wait()
	}
	if err != nil {
		return out.String(), fmt.Errorf("%s %s: %w: %s", filepath.Base(command.Path), strings.Join(command.Args[1:], " "), err, all)
	}
	return out.String(), nil
}

// printed is the end of what a command said on both of its outputs.
type printed struct {
	mu   sync.Mutex
	text []byte
}

// mostPrinted is how much of it an error repeats.
const mostPrinted = 4000

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = append(p.text, b...)
	p.text = p.text[max(0, len(p.text)-mostPrinted):]
	return len(b), nil
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.TrimSpace(string(p.text))
}

// tail is the end of a log.
func tail(file string, lines int) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// await asks until the answer is nil, and gives up when ctx does, or when a process of the node has ended, which none does
// by itself.
func (n *Node) await(ctx context.Context, what string, ask func(context.Context) error) error {
	pause := time.NewTicker(100 * time.Millisecond)
	defer pause.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		if ended := n.anyEnded(); ended != nil {
			return ended
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w (the last answer: %w)", what, ctx.Err(), err)
		case <-pause.C:
		}
	}
}

func (n *Node) anyEnded() error {
	for _, p := range n.processes {
		select {
		case <-p.ended:
			return fmt.Errorf("%s %w; its last words:\n%s", p.name, errEnded, tail(p.log, 15))
		default:
		}
	}
	select {
	case <-n.sandbox.ended:
		return errors.New("the sandbox's first process was killed")
	default:
		return nil
	}
}
