package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Sizes that no file, package, function or type passes without an entry in a list below. Tests and generated files don't count.
const (
	longestFile    = 600
	longestPackage = 2000
	longestFunc    = 60
	mostMethods    = 25
)

// longPackages have more than longestPackage lines. Each may grow to its limit, a little above its size. Split a package rather than raise its limit, unless the
// code is of one subject and no part of it could be read alone.
var longPackages = map[string]int{
	"apiserver/contract/contracttest": 2800,
	"apiserver/read/boards":           2800,
	"apiserver/serve":                 2400,
	"apiserver/social":                2200,
	"hack/bench/lab":                  3000,
	"hack/bench/place":                3300,
	"hack/simulate":                   5200,
	"indexer":                         4200,
	"indexer/derive":                  5400,
	"indexer/evm":                     3900,
	"indexer/rpc":                     2100,
	"indexer/solana":                  3400,
	"indexer/solana/decode":           2700,
	"internal/market":                 2400,
	"internal/store":                  6700,
	"internal/store/social":           2200,
	"operator/controller":             2900,
}

// longFunctions have more than longestFunc lines, and don't grow.
var longFunctions = map[string]int{
	"apiserver/social.Handlers.feed":               61,
	"cmd.upCommand":                                72,
	"hack/bench/solana.node.answer":                70,
	"hack/simnet/cmd/simnet.runChains":             67,
	"hack/simnet/process.Start":                    64,
	"hack/simnet/solana.Deploy":                    71,
	"hack/simnet/solana/manifest.YAML":             70,
	"hack/simnet/solana/standin.assembly.callStep": 68,
	"hack/simnet/solana/standin.link":              96,
	"hack/simnet/solana/svm.Transaction":           65,
	"hack/simnet/world.planPools":                  64,
	"hack/simulate.node.ServeHTTP":                 63,
	"hack/simulate.play":                           70,
	"indexer/derive.State.Put":                     64,
	"indexer/pasts.Reader.look":                    73,
	"indexer/preflight.checkSolana":                70,
	"indexer/solana/decode.Decoder.parse":          64,
	"internal/catalog/resolve/resolvetest.Chains":  337,
	"internal/catalog/resolve/resolvetest.Venues":  127,
	"internal/store.readFact":                      74,
	"internal/store/schema.examineRole":            68,
	"up.Program.serve":                             68,
}

// wideTypes have more than mostMethods exported methods, those of types of their package that they embed included.
var wideTypes = map[string]struct {
	methods int
	reason  string
}{
	"hack/simnet/world.Deployment": {26, "an accessor for each kind of contract that a local chain has"},
}

// TestSizesStay holds the sizes of files, packages, functions and types, so that none grows unnoticed. A list's entry that is no longer needed fails, too.
func TestSizesStay(t *testing.T) {
	t.Parallel()
	s := measure(t)
	for file, lines := range s.files {
		if lines > longestFile {
			t.Errorf("%s has %d lines; allowed are %d", file, lines, longestFile)
		}
	}
	for name, lines := range s.packages {
		switch limit, listed := longPackages[name]; {
		case lines > max(limit, longestPackage):
			t.Errorf("%s has %d lines outside tests; allowed are %d", name, lines, max(limit, longestPackage))
		case listed && lines <= longestPackage:
			t.Errorf("%s has %d lines: longPackages needn't have it any more", name, lines)
		case listed && lines < limit-limit/10:
			t.Errorf("%s has %d lines: let its limit of %d in longPackages follow", name, lines, limit)
		}
	}
	for name, lines := range s.functions {
		if limit, listed := longFunctions[name]; lines > max(limit, longestFunc) {
			t.Errorf("%s has %d lines; allowed are %d", name, lines, max(limit, longestFunc))
		} else if listed && lines <= longestFunc {
			t.Errorf("%s has %d lines: longFunctions needn't have it any more", name, lines)
		}
	}
	for name := range s.methods {
		methods := s.exportedMethods(name)
		if listed, ok := wideTypes[name]; methods > max(listed.methods, mostMethods) {
			t.Errorf("%s has %d exported methods; allowed are %d", name, methods, max(listed.methods, mostMethods))
		} else if ok && methods <= mostMethods {
			t.Errorf("%s has %d exported methods: wideTypes needn't have it any more", name, methods)
		}
	}
	for name := range longPackages {
		if s.packages[name] == 0 {
			t.Errorf("longPackages has %s, which doesn't exist", name)
		}
	}
	for name := range longFunctions {
		if s.functions[name] == 0 {
			t.Errorf("longFunctions has %s, which doesn't exist", name)
		}
	}
	for name := range wideTypes {
		if s.methods[name] == nil {
			t.Errorf("wideTypes has %s, which doesn't exist", name)
		}
	}
}

// sizes are the lines of files, of packages by their folders and of functions, as "folder.Type.Func", and the exported methods of types, as "folder.Type", with
// the types of the same package that each embeds.
type sizes struct {
	files, packages, functions map[string]int
	methods                    map[string]map[string]bool
	embedded                   map[string][]string
}

func measure(t *testing.T) *sizes {
	t.Helper()
	s := &sizes{
		files: map[string]int{}, packages: map[string]int{}, functions: map[string]int{},
		methods: map[string]map[string]bool{}, embedded: map[string][]string{},
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		lines := strings.Count(string(source), "\n")
		s.files[filepath.ToSlash(path)] = lines
		s.packages[folder] += lines
		for _, declaration := range file.Decls {
			s.add(files, folder, declaration)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.files) < 500 || len(s.methods) < 200 {
		t.Fatalf("only %d files and %d types with methods were read", len(s.files), len(s.methods))
	}
	return s
}

func (s *sizes) add(files *token.FileSet, folder string, declaration ast.Decl) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		name := folder + "."
		if d.Recv != nil {
			receiver := typeName(d.Recv.List[0].Type)
			name += receiver + "."
			if d.Name.IsExported() {
				of := folder + "." + receiver
				if s.methods[of] == nil {
					s.methods[of] = map[string]bool{}
				}
				s.methods[of][d.Name.Name] = true
			}
		}
		s.functions[name+d.Name.Name] = files.Position(d.End()).Line - files.Position(d.Pos()).Line + 1
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			named, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			structure, ok := named.Type.(*ast.StructType)
			if !ok {
				continue
			}
			of := folder + "." + named.Name.Name
			for _, field := range structure.Fields.List {
				if len(field.Names) == 0 {
					s.embedded[of] = append(s.embedded[of], folder+"."+typeName(field.Type))
				}
			}
		}
	}
}

// typeName is the name of a type without its pointer and its parameters.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	default:
		return "" // a type of another package
	}
}

// exportedMethods counts a type's exported methods and those of the types that it embeds.
func (s *sizes) exportedMethods(name string) int {
	all := map[string]bool{}
	s.collect(name, all, map[string]bool{})
	return len(all)
}

// collect adds a type's exported methods, and those of the types that it embeds, to all.
func (s *sizes) collect(name string, all, seen map[string]bool) {
	if seen[name] {
		return
	}
	seen[name] = true
	maps.Copy(all, s.methods[name])
	for _, embedded := range s.embedded[name] {
		s.collect(embedded, all, seen)
	}
}
