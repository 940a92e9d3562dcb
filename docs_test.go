package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReasonsAreDocumented finds every condition and reason that a resource can have in docs/kubernetes.md.
func TestReasonsAreDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	constant := regexp.MustCompile(`(?m)^\s*(?:const )?((?:Reason|Condition)\w+)\s*=\s*"(\w+)"`)
	found := 0
	for _, file := range []string{"api/v1alpha1/chain_status.go", "api/v1alpha1/launchvenue_types.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range constant.FindAllStringSubmatch(string(source), -1) {
			found++
			if name, value := m[1], m[2]; !strings.Contains(string(doc), "`"+value+"`") {
				t.Errorf("%s (%s) is not in docs/kubernetes.md", value, name)
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d conditions and reasons were found: the constants were not read", found)
	}
}
