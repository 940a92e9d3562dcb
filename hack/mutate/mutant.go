package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// listFile is the list of equivalent mutants, in the module.
const listFile = "hack/mutate/equivalent.yaml"

// mutant is one changed operator in a package.
type mutant struct {
	pkg      string // path in the module
	file     string // name without folder
	line     int
	function string // the function around it; a method is Type.Method
	mutation string // gremlins' name of the change
	text     string // the source's line without the spaces around it
	becomes  string // the same line, changed
}

// equivalent names a mutant that no test can kill, since it does what the source does. A line's number would be wrong after the next
// change above it, so the mutant is named by the function and the line's text.
type equivalent struct {
	Package  string `yaml:"package"`
	Function string `yaml:"function"`
	Mutation string `yaml:"mutation"`
	Line     string `yaml:"line"`
	Becomes  string `yaml:"becomes"`
	Reason   string `yaml:"reason"`
}

func (e equivalent) names(m mutant) bool {
	return e.Package == m.pkg && e.Function == m.function && e.Mutation == m.mutation && e.Line == m.text && e.Becomes == m.becomes
}

// standsIn reports whether one of the target's files has the mutant's line in its function.
func (e equivalent) standsIn(root string, t target) bool {
	return slices.ContainsFunc(t.files, func(file string) bool {
		s, err := readSource(filepath.Join(root, t.path, file+".go"))
		return err == nil && e.Package == t.path && s.has(e)
	})
}

// readEquivalents reads the list; an entry without one of its fields is an error.
func readEquivalents(path string) ([]equivalent, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []equivalent
	if err := yaml.Unmarshal(content, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", listFile, err)
	}
	for i, e := range list {
		if e.Package == "" || e.Function == "" || e.Mutation == "" || e.Line == "" || e.Becomes == "" || e.Reason == "" {
			return nil, fmt.Errorf("%s: entry %d needs package, function, mutation, line, becomes and reason", listFile, i+1)
		}
	}
	return list, nil
}

// changes are gremlins' mutations: the operator that each puts in the place of another (internal/engine/mappings.go of gremlins).
func changes(mutation string) map[string]string {
	switch mutation {
	case "ARITHMETIC_BASE":
		return map[string]string{"+": "-", "-": "+", "*": "/", "/": "*", "%": "*"}
	case "CONDITIONALS_BOUNDARY":
		return map[string]string{">=": ">", ">": ">=", "<=": "<", "<": "<="}
	case "CONDITIONALS_NEGATION":
		return map[string]string{"==": "!=", "!=": "==", ">=": "<", ">": "<=", "<=": ">", "<": ">="}
	case "INCREMENT_DECREMENT":
		return map[string]string{"++": "--", "--": "++"}
	case "INVERT_NEGATIVES":
		return map[string]string{"-": "+"}
	case "INVERT_LOGICAL":
		return map[string]string{"&&": "||", "||": "&&"}
	case "INVERT_LOOPCTRL":
		return map[string]string{"break": "continue", "continue": "break"}
	case "INVERT_ASSIGNMENTS":
		return map[string]string{"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
	case "REMOVE_SELF_ASSIGNMENTS":
		return map[string]string{
			"+=": "=", "-=": "=", "*=": "=", "/=": "=", "%=": "=", "&=": "=", "|=": "=", "^=": "=", "&^=": "=", "<<=": "=", ">>=": "=",
		}
	default:
		return nil
	}
}

// source is a parsed file.
type source struct {
	name  string
	lines []string
	set   *token.FileSet
	tree  *ast.File
}

func readSource(path string) (source, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return source{}, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, content, parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	return source{name: filepath.Base(path), lines: strings.Split(string(content), "\n"), set: set, tree: tree}, nil
}

// has reports whether the mutant's line is there, with the operator that it changes.
func (s source) has(e equivalent) bool {
	for i, line := range s.lines {
		if strings.TrimSpace(line) != e.Line || s.function(i+1) != e.Function {
			continue
		}
		for column := range line {
			if m, err := s.mutant(e.Mutation, i+1, column+1); err == nil && m.becomes == e.Becomes {
				return true
			}
		}
	}
	return false
}

// mutant describes the mutant that changes the operator at a line and a column of bytes, both counted from 1.
func (s source) mutant(mutation string, line, column int) (mutant, error) {
	if line < 1 || line > len(s.lines) || column < 1 || column > len(s.lines[line-1]) {
		return mutant{}, fmt.Errorf("%s has no line %d, column %d: the sources changed meanwhile", s.name, line, column)
	}
	text := s.lines[line-1]
	before, rest := text[:column-1], text[column-1:]
	was := ""
	for operator := range changes(mutation) {
		if strings.HasPrefix(rest, operator) && len(operator) > len(was) {
			was = operator
		}
	}
	if was == "" {
		return mutant{}, fmt.Errorf("%s:%d:%d: no operator that %s changes", s.name, line, column, mutation)
	}
	return mutant{
		file: s.name, line: line, function: s.function(line), mutation: mutation, text: strings.TrimSpace(text),
		becomes: strings.TrimSpace(before + changes(mutation)[was] + rest[len(was):]),
	}, nil
}

// function returns the name of the declared function that a line is in, or "-" outside of functions.
func (s source) function(line int) string {
	for _, d := range s.tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || line < s.set.Position(f.Pos()).Line || line > s.set.Position(f.End()).Line {
			continue
		}
		if f.Recv == nil || len(f.Recv.List) == 0 {
			return f.Name.Name
		}
		return receiver(f.Recv.List[0].Type) + "." + f.Name.Name
	}
	return "-"
}

// receiver returns the name of a method's type, without star and type parameters.
func receiver(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	default:
		return "?"
	}
}
