// Package lab has what the measurements share: commands, databases of seeded worlds, servers as processes of their own, load, meters of
// what is used, and tables.
package lab

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

// Now is the clock of all measurements.
var Now = time.Now

// Say writes a line of progress.
func Say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, Now().Format("15:04:05")+" "+format+"\n", args...)
}

// Command is something that a program can be told to do.
type Command struct {
	// Name and about are for whoever asks what there is.
	Name, About string
	// Flags declares its flags.
	Flags func(*flag.FlagSet)
	// Run does it once the flags are read.
	Run func(context.Context) error
	// Child marks a command that others run as a process of its own, so that what it uses can be told. No help lists it.
	Child bool
}

// program is how the program is started by hand.
var program string

// Main runs the command that the program's arguments name, and gives the program's exit status. started is how it is started.
func Main(started string, list ...Command) (status int) {
	program = started
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := dispatch(ctx, list, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench: "+strings.TrimPrefix(err.Error(), "simnet: "))
		return 1
	}
	return 0
}

func dispatch(ctx context.Context, list []Command, args []string) error {
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		return help(os.Stdout, list)
	}
	var names []string
	for i := range list {
		c := &list[i]
		if c.Name == args[0] {
			if err := parse(c, args[1:]); err != nil {
				return err
			}
			return c.Run(ctx)
		}
		if !c.Child {
			names = append(names, c.Name)
		}
	}
	return fmt.Errorf("%q is no measurement: those that exist are %s (see %s --help)", args[0], strings.Join(names, ", "), program)
}

// help lists the commands.
func help(w io.Writer, list []Command) error {
	var b strings.Builder
	b.WriteString("Measurements on this machine; docs/benchmarks.md says what they are and what they gave.\n\n")
	for i := range list {
		if c := &list[i]; !c.Child {
			first, _, _ := strings.Cut(c.About, ". ")
			fmt.Fprintf(&b, "  %s %-14s %s\n", program, c.Name, first)
		}
	}
	fmt.Fprintf(&b, "\nProgress goes to stderr, the result to stdout as Markdown. See %s NAME --help.\n", program)
	_, err := io.WriteString(w, b.String())
	return err
}

// parse reads a command's flags. Nothing may follow them.
func parse(c *Command, args []string) error {
	flags := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	c.Flags(flags)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "%s %s [flags]\n\n%s\n\nFlags:\n", program, c.Name, c.About)
		flags.PrintDefaults()
	}
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return fmt.Errorf("%w (see %s %s --help)", err, program, c.Name)
	case flags.NArg() > 0:
		return fmt.Errorf("%q is no argument of %s (see its --help)", flags.Arg(0), c.Name)
	}
	return nil
}

// Chosen reads a list of names, separated by commas, of which each must be among all; an empty one is all.
func Chosen(name, list string, all []string) ([]string, error) {
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

// Scratch is a folder for the time of a measurement.
func Scratch(f func(dir string) error) (err error) {
	dir, err := os.MkdirTemp("", "boardwalk-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return f(dir)
}

// Kept fills a folder of the cache. What is half done is never taken for the whole.
func Kept(dir string, fill func(part string) error) (err error) {
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
