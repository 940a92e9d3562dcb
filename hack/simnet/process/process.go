// Package process runs nodes of chains as processes of their own, and calls them by JSON-RPC.
package process

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options say what to run.
type Options struct {
	// Name is what errors call it.
	Name string
	Path string
	Args []string
	// Env are variables besides those of this process.
	Env []string
	// Port is looked at first: it has to be free. 0 is any.
	Port int
	// LogFile receives what the node prints; empty discards it.
	LogFile string
	// Timeout is how long the node may take until it says where it listens.
	Timeout time.Duration
	// AfterEnd, if set, is called when the node has ended.
	AfterEnd func()
}

// Node is a node that runs. It ends with Close or Kill, with the context that it was started with, and on Linux with this process however that ends.
type Node struct {
	name    string
	port    int
	http    *http.Client
	process *os.Process
	stop    context.CancelFunc
	ended   chan struct{}
}

// Start starts a node and waits until it prints "Listening on HOST:PORT".
func Start(ctx context.Context, o Options) (*Node, error) {
	if err := portFree(ctx, o.Name, o.Port); err != nil {
		return nil, err
	}
	log := io.WriteCloser(discard{})
	if o.LogFile != "" {
		var err error
		if log, err = os.Create(o.LogFile); err != nil {
			return nil, fmt.Errorf("%s: log file: %w", o.Name, err)
		}
	}
	lifetime, stop := context.WithCancel(ctx)
	command := exec.CommandContext(lifetime, o.Path, o.Args...)
	command.SysProcAttr = dieWithParent()
	command.Env = append(os.Environ(), o.Env...)
	command.WaitDelay = 5 * time.Second
	output, outputWriter := io.Pipe()
	command.Stdout, command.Stderr = outputWriter, outputWriter

	n := &Node{name: o.Name, stop: stop, ended: make(chan struct{})}
	n.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	port := make(chan int, 1)
	tail := &lastLines{}
	drained := make(chan struct{})
	go func() {
		readOutput(output, log, port, tail)
		close(drained)
	}()

	started := make(chan error, 1)
	go func() {
		// The thread must outlive the child, see dieWithParent. It ends with this goroutine.
		runtime.LockOSThread()
		err := command.Start()
		n.process = command.Process
		started <- err
		if err == nil {
			_ = command.Wait() // a killed child is the ordinary end
		}
		outputWriter.Close()
		<-drained
		if o.AfterEnd != nil {
			o.AfterEnd()
		}
		close(n.ended)
	}()
	if err := <-started; err != nil {
		stop()
		return nil, fmt.Errorf("%s: start %s: %w", o.Name, o.Path, err)
	}
	var err error
	select {
	case n.port = <-port:
		return n, nil
	case <-n.ended:
		err = fmt.Errorf("%s: ended at once: %s", o.Name, tail)
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(o.Timeout):
		err = fmt.Errorf("%s: no answer after %s: %s", o.Name, o.Timeout, tail)
	}
	n.Kill()
	return nil, err
}

func portFree(ctx context.Context, name string, port int) error {
	if port == 0 {
		return nil
	}
	var c net.ListenConfig
	listener, err := c.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("%s: port %d is not free (end the program that listens there, or choose another port): %w", name, port, err)
	}
	return listener.Close()
}

// readOutput looks for the line that names the port, then passes everything on to the log.
func readOutput(output io.Reader, log io.WriteCloser, port chan<- int, tail *lastLines) {
	defer log.Close()
	lines := bufio.NewReader(output)
	for {
		line, err := lines.ReadString('\n')
		_, _ = io.WriteString(log, line)
		tail.add(line)
		if _, address, found := strings.Cut(strings.TrimSpace(line), "Listening on "); found {
			if _, number, err := net.SplitHostPort(address); err == nil {
				chosen, _ := strconv.Atoi(number)
				port <- chosen
				break
			}
		}
		if err != nil {
			return
		}
	}
	_, _ = io.Copy(log, lines)
}

// URL is the HTTP endpoint.
func (n *Node) URL() string { return fmt.Sprintf("http://127.0.0.1:%d", n.port) }

// Port is where it listens.
func (n *Node) Port() int { return n.port }

// Ended is closed when the node has ended, whoever ended it.
func (n *Node) Ended() <-chan struct{} { return n.ended }

// Kill ends the node at once, as a crash would, and waits for its end.
func (n *Node) Kill() {
	n.stop()
	<-n.ended
	n.http.CloseIdleConnections()
}

// Close lets the node end by itself, and kills it after five seconds.
func (n *Node) Close() error {
	_ = n.process.Signal(os.Interrupt) // it may have ended already
	select {
	case <-n.ended:
	case <-time.After(5 * time.Second):
	}
	n.Kill()
	return nil
}

// lastLines keeps what a node printed before it failed, for the error message.
type lastLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *lastLines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line = strings.TrimSpace(line); line != "" {
		l.lines = append(l.lines[max(0, len(l.lines)-4):], line)
	}
}

func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, " | ")
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
