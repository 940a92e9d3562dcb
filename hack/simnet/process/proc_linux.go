package process

import "syscall"

// dieWithParent makes the kernel kill the child when the thread that started it ends, so whoever
// starts it must keep that thread alive (runtime.LockOSThread) until the child has ended.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
