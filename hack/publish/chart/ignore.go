package chart

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// ignore are the patterns of a .helmignore, of the two forms that the charts have.
type ignore struct {
	names []string // of files and directories wherever they are
	dirs  []string // of the chart's own directory
}

func readIgnore(file string) (ignore, error) {
	var i ignore
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return i, nil
	}
	if err != nil {
		return i, err
	}
	for line := range strings.Lines(string(content)) {
		pattern := strings.TrimSpace(line)
		if pattern == "" || strings.HasPrefix(pattern, "#") {
			continue
		}
		_, malformed := path.Match(pattern, "")
		bare := strings.Trim(pattern, "/")
		switch {
		case malformed == nil && !strings.ContainsAny(pattern, "/!\\"):
			i.names = append(i.names, pattern)
		case malformed == nil && pattern == "/"+bare+"/" && !strings.ContainsAny(bare, "/!\\*?["):
			i.dirs = append(i.dirs, bare)
		default:
			return i, fmt.Errorf("%s: %q is neither a pattern of names such as *.orig nor a directory of the chart such as /ci/", file, pattern)
		}
	}
	return i, nil
}

// match tells whether a file of the chart is left out.
func (i ignore) match(name string) bool {
	for _, dir := range i.dirs {
		if strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		for _, pattern := range i.names {
			if matches, err := path.Match(pattern, part); matches && err == nil {
				return true
			}
		}
	}
	return false
}
