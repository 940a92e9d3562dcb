package kubetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// patience is how long a component may take to answer, on a machine that is busy; it takes seconds on one that isn't.
const patience = 3 * time.Minute

// process is a running component. On Linux it ends with this process, however that ends.
type process struct {
	name  string
	log   string
	os    *os.Process
	ended chan struct{}
}

// start starts a tool whose output goes to <name>.log in dir, where it works too. ctx bounds no more than the look for
// the tool: kill ends the process.
func start(ctx context.Context, dir, name string, flags []string) (*process, error) {
	path, err := Tool(ctx, name)
	if err != nil {
		return nil, err
	}
	p := &process{name: name, log: filepath.Join(dir, name+".log"), ended: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), path, flags...)
	command.Dir, command.Stdout, command.Stderr = dir, log, log
	// Nothing else: etcd and kwok take settings from their user's environment and home directory.
	command.Env = []string{"HOME=" + dir, "TMPDIR=" + dir}
	command.SysProcAttr = dieWithParent()
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the thread must outlive the child, see dieWithParent; it ends with this goroutine
		err := command.Start()
		p.os = command.Process
		started <- err
		if err == nil {
			_ = command.Wait() // a killed child is the ordinary end
		}
		_ = log.Close()
		close(p.ended)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// kill ends the process at once and waits for its end.
func (p *process) kill() {
	_ = p.os.Kill() // it may have ended already
	<-p.ended
}

// until asks again and again until the answer is no error, one of the processes that it depends on has ended, or ctx, or
// patience, is over.
func until(ctx context.Context, what string, ask func(context.Context) error, of ...*process) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	retry := time.NewTicker(25 * time.Millisecond)
	defer retry.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		for _, p := range of {
			select {
			case <-p.ended:
				return fmt.Errorf("%s ended before %s; %s", p.name, what, p.tail())
			default:
			}
		}
		select {
		case <-ctx.Done():
			err = fmt.Errorf("waiting until %s: %w", what, errors.Join(ctx.Err(), err))
			for _, p := range of {
				err = fmt.Errorf("%w; %s", err, p.tail())
			}
			return err
		case <-retry.C:
		}
	}
}

// tail is the last of what the process logged, for an error: Stop removes the log.
func (p *process) tail() string {
	const most = 3000
	file, err := os.Open(p.log)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > most {
		_, _ = file.Seek(-most, io.SeekEnd)
	}
	content, _ := io.ReadAll(file) // what can be read
	return fmt.Sprintf("the end of %s's log:\n%s", p.name, content)
}
