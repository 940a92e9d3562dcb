package contract

import (
	"encoding/json"
	"fmt"
	"iter"

	"go.yaml.in/yaml/v3"
)

// pairs walks a mapping in its order; any other node is empty.
func pairs(mapping *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		if mapping == nil || mapping.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(mapping.Content); i += 2 {
			if !yield(mapping.Content[i].Value, mapping.Content[i+1]) {
				return
			}
		}
	}
}

func lookup(mapping *yaml.Node, key string) *yaml.Node {
	for k, v := range pairs(mapping) {
		if k == key {
			return v
		}
	}
	return nil
}

// appendJSON keeps the order of keys, which a detour over maps would lose.
func appendJSON(out []byte, node *yaml.Node) ([]byte, error) {
	var err error
	switch node.Kind {
	case yaml.MappingNode:
		out = append(out, '{')
		for key, value := range pairs(node) {
			if out[len(out)-1] != '{' {
				out = append(out, ',')
			}
			if out, err = appendValue(out, key); err != nil {
				return nil, err
			}
			out = append(out, ':')
			if out, err = appendJSON(out, value); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	case yaml.SequenceNode:
		out = append(out, '[')
		for i, item := range node.Content {
			if i > 0 {
				out = append(out, ',')
			}
			if out, err = appendJSON(out, item); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	case yaml.ScalarNode:
		var value any
		if err := node.Decode(&value); err != nil {
			return nil, fmt.Errorf("contract: line %d: %w", node.Line, err)
		}
		return appendValue(out, value)
	case yaml.DocumentNode, yaml.AliasNode: // the first stands above the root; for the second OpenAPI has $ref
	}
	return nil, fmt.Errorf("contract: line %d: anchors and aliases are not used here", node.Line)
}

func appendValue(out []byte, value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	return append(out, text...), nil
}
