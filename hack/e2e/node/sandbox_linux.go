package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// sandbox is a set of namespaces: processes, mounts, network and what they share in memory. Whatever starts in it, and
// whatever that starts, is gone when its first process is: the kernel ends every process of a PID namespace with the first
// one, and mounts and network with the last process that uses them. The first process ends with this one, however this one
// ends. So nothing needs to be found again to be taken down.
type sandbox struct {
	init       *exec.Cmd
	ended      chan struct{} // closed when no process is left in it
	namespaces []namespace
}

// namespace is one that a thread can enter.
type namespace struct {
	file *os.File
	kind int
}

// newSandbox starts the first process, which must do nothing but reap.
func newSandbox(pause string) (*sandbox, error) {
	s := &sandbox{init: exec.Command(pause), ended: make(chan struct{})} //nolint:noctx // Close ends it
	s.init.Dir = "/"
	s.init.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC,
		// Go makes the mounts of a namespace that it unshares private: what is mounted in it shows nowhere else.
		Unshareflags: unix.CLONE_NEWNS,
		Pdeathsig:    syscall.SIGKILL,
	}
	started := make(chan error, 1)
	go func() {
		// Pdeathsig looks at the thread that started the process: it must live as long.
		runtime.LockOSThread()
		err := s.init.Start()
		started <- err
		if err == nil {
			_ = s.init.Wait() // killed, in the ordinary case
		}
		close(s.ended)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("make namespaces: %w", err)
	}
	for name, kind := range map[string]int{"net": unix.CLONE_NEWNET, "ipc": unix.CLONE_NEWIPC, "pid": unix.CLONE_NEWPID, "mnt": unix.CLONE_NEWNS} {
		file, err := os.Open(filepath.Join("/proc", strconv.Itoa(s.init.Process.Pid), "ns", name))
		if err != nil {
			s.close()
			return nil, fmt.Errorf("namespace %s: %w", name, err)
		}
		s.namespaces = append(s.namespaces, namespace{file, kind})
	}
	return s, nil
}

// close ends everything in the sandbox and returns when it has ended.
func (s *sandbox) close() {
	_ = s.init.Process.Kill()
	<-s.ended
	for _, n := range s.namespaces {
		_ = n.file.Close()
	}
}

// within runs do in the sandbox's namespaces of these kinds. Of the PID namespace only the children that do starts are.
func (s *sandbox) within(kinds int, do func() error) error {
	return onOwnThread(func() error { return s.enterAnd(kinds, do) })
}

// onOwnThread runs do on a thread that is thrown away afterwards, so that do may change the thread's namespaces.
func onOwnThread(do func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and not unlocked: the thread ends with the goroutine
		if unix.Gettid() == unix.Getpid() {
			// But not the process's first one: that would stay where do left it, and /proc/self with it. While this goroutine
			// holds it, another one can't be on it.
			result <- onOwnThread(do)
			runtime.UnlockOSThread()
			return
		}
		result <- do()
	}()
	return <-result
}

func (s *sandbox) enterAnd(kinds int, do func() error) error {
	if kinds&unix.CLONE_NEWNS != 0 {
		// A thread that shares its working directory with others can't change its mounts.
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			return fmt.Errorf("unshare: %w", err)
		}
	}
	for _, n := range s.namespaces {
		if kinds&n.kind == 0 {
			continue
		}
		if err := unix.Setns(int(n.file.Fd()), n.kind); err != nil {
			return fmt.Errorf("enter %s: %w", n.file.Name(), err)
		}
	}
	return do()
}

// start starts a command in all of the sandbox. Its Wait may be called anywhere.
func (s *sandbox) start(command *exec.Cmd) error {
	return s.within(unix.CLONE_NEWPID|unix.CLONE_NEWNS|unix.CLONE_NEWNET|unix.CLONE_NEWIPC, command.Start)
}

// run runs a command in all of the sandbox to its end and returns what it printed.
func (s *sandbox) run(command *exec.Cmd) (string, error) {
	return collect(command, s.start)
}

// dial connects from the sandbox's network. The address must be a number: a name would be looked up outside.
func (s *sandbox) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if net.ParseIP(host) == nil {
		return nil, fmt.Errorf("%q is no IP address: only those can be reached from outside of the cluster", host)
	}
	var conn net.Conn
	err = s.within(unix.CLONE_NEWNET, func() (err error) {
		var d net.Dialer
		conn, err = d.DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// errEnded is what a start finds when a process that it needs is gone.
var errEnded = errors.New("ended")
