package rpc

import (
	"errors"
	"strings"
	"testing"
)

func TestWithoutURLKeepsTheError(t *testing.T) {
	t.Parallel()
	cause := errors.New("https://node.example/abcdef is gone")
	err := WithoutURL("https://node.example/abcdef", cause)
	if !errors.Is(err, cause) || strings.Contains(err.Error(), "abcdef") || !strings.HasSuffix(err.Error(), " is gone") {
		t.Errorf("%v", err)
	}
	if got := Redact("https://node.example/v2/abcdef", "v2 of abc"); got != "v2 of abc" {
		t.Errorf("what is no key was taken out: %q", got)
	}
}
