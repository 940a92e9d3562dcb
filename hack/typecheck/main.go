// Typecheck reports the errors for which modules wouldn't compile on another operating system and processor. It reads the sources, the tests' too, and makes no code, which takes a
// fraction of the time of a build.
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "typecheck:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 || strings.Count(args[0], "/") != 1 {
		return fmt.Errorf("usage: typecheck GOOS/GOARCH FOLDER..., such as typecheck darwin/arm64 .; got %q", args)
	}
	system, processor, _ := strings.Cut(args[0], "/")
	wrong := 0
	for _, module := range args[1:] {
		found, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes |
				packages.NeedTypesSizes | packages.NeedModule,
			Dir: module, Env: append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"), Tests: true,
		}, "./...")
		if err != nil {
			return fmt.Errorf("load %s: %w", module, err)
		}
		if len(found) == 0 {
			return fmt.Errorf("no packages in %s", module)
		}
		wrong += packages.PrintErrors(found) // to the standard error, with file and line
	}
	if wrong > 0 {
		return fmt.Errorf("errors on %s: %d", args[0], wrong)
	}
	return nil
}
