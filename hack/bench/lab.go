package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// now is the clock of all measurements.
var now = time.Now

// say writes a line of progress.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, now().Format("15:04:05")+" "+format+"\n", args...)
}

// command is something that a program can be told to do.
type command struct {
	// name and about are for whoever asks what there is.
	name, about string
	// flags declares its flags.
	flags func(*flag.FlagSet)
	// run does it once the flags are read.
	run func(context.Context) error
	// child marks a command that others run as a process of its own, so that what it uses can be told. No help lists it.
	child bool
}

// program is how the program is started by hand.
var program string

// runMain runs the command that the program's arguments name, and gives the program's exit status. started is how it is started.
func runMain(started string, list ...command) (status int) {
	program = started
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := dispatch(ctx, list, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench: "+strings.TrimPrefix(err.Error(), "simnet: "))
		return 1
	}
	return 0
}

func dispatch(ctx context.Context, list []command, args []string) error {
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		return help(os.Stdout, list)
	}
	var names []string
	for i := range list {
		c := &list[i]
		if c.name == args[0] {
			if err := parse(c, args[1:]); err != nil {
				return err
			}
			return c.run(ctx)
		}
		if !c.child {
			names = append(names, c.name)
		}
	}
	return fmt.Errorf("%q is no measurement: those that exist are %s (see %s --help)", args[0], strings.Join(names, ", "), program)
}

// help lists the commands.
func help(w io.Writer, list []command) error {
	var b strings.Builder
	b.WriteString("Measurements on this machine; docs/benchmarks.md says what they are and what they gave.\n\n")
	for i := range list {
		if c := &list[i]; !c.child {
			first, _, _ := strings.Cut(c.about, ".")
			fmt.Fprintf(&b, "  %s %-9s %s\n", program, c.name, first)
		}
	}
	fmt.Fprintf(&b, "\nProgress goes to stderr, the result to stdout as Markdown. See %s NAME --help.\n", program)
	_, err := io.WriteString(w, b.String())
	return err
}

// parse reads a command's flags. Nothing may follow them.
func parse(c *command, args []string) error {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	c.flags(flags)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "%s %s [flags]\n\n%s\n\nFlags:\n", program, c.name, c.about)
		flags.PrintDefaults()
	}
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return fmt.Errorf("%w (see %s %s --help)", err, program, c.name)
	case flags.NArg() > 0:
		return fmt.Errorf("%q is no argument of %s (see its --help)", flags.Arg(0), c.name)
	}
	return nil
}

// chosen reads a list of names, separated by commas, of which each must be among all; an empty one is all.
func chosen(name, list string, all []string) ([]string, error) {
	if list == "" {
		return all, nil
	}
	wanted := strings.Split(list, ",")
	for _, w := range wanted {
		if !slices.Contains(all, w) {
			return nil, fmt.Errorf("--%s: %q is no contender; they are %s", name, w, strings.Join(all, ", "))
		}
	}
	return wanted, nil
}

// scratch is a folder for the time of a measurement.
func scratch(f func(dir string) error) (err error) {
	dir, err := os.MkdirTemp("", "boardwalk-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return f(dir)
}

// kept fills a folder of the cache. What is half done is never taken for the whole.
func kept(dir string, fill func(part string) error) (err error) {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return fmt.Errorf("%w (set BOARDWALK_CACHE to a directory that can be written)", err)
	}
	part, err := os.MkdirTemp(parent, "part-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(part)) }()
	if err := fill(part); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(dir), os.Rename(part, dir))
}
