package dbserver

import "syscall"

// dieWithParent has the kernel end a process with the thread that started it.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
