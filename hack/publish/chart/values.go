package chart

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// setText replaces one text in a YAML document, and leaves all else as it is, comments included.
func setText(document []byte, path []string, value string) ([]byte, error) {
	found, err := findText(document, path)
	if err != nil {
		return nil, err
	}
	old := found.Value
	if found.Style == yaml.DoubleQuotedStyle {
		old = strconv.Quote(old)
	}
	lines := bytes.Split(document, []byte("\n"))
	line := string(lines[found.Line-1])
	before := line[:found.Column-1]
	after, matches := strings.CutPrefix(line[found.Column-1:], old)
	if !matches {
		return nil, fmt.Errorf("%s is written in a form that can't be replaced: write it plain or in double quotes, on one line", strings.Join(path, "."))
	}
	lines[found.Line-1] = []byte(before + strconv.Quote(value) + after)
	changed := bytes.Join(lines, []byte("\n"))
	if found, err = findText(changed, path); err != nil || found.Value != value {
		return nil, errors.Join(fmt.Errorf("%s could not be set to %q", strings.Join(path, "."), value), err)
	}
	return changed, nil
}

// findText finds the node of a text by the keys that lead to it.
func findText(document []byte, path []string) (*yaml.Node, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		return nil, err
	}
	if len(root.Content) != 1 {
		return nil, errors.New("it is empty")
	}
	at := root.Content[0]
	for i, key := range path {
		next := valueOf(at, key)
		if next == nil {
			return nil, fmt.Errorf("there is no %s", strings.Join(path[:i+1], "."))
		}
		at = next
	}
	if at.Kind != yaml.ScalarNode || at.Tag != "!!str" {
		return nil, fmt.Errorf("%s is no text", strings.Join(path, "."))
	}
	return at, nil
}

func valueOf(node *yaml.Node, key string) *yaml.Node {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}
