package node

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestDeniedRequestsAreFound(t *testing.T) {
	t.Parallel()
	n := &Node{dir: t.TempDir()}
	log := `{"verb":"list","user":{"username":"system:serviceaccount:app:op"},"objectRef":{"resource":"secrets"},"responseStatus":{"code":403}}
{"verb":"list","user":{"username":"system:serviceaccount:app:op"},"objectRef":{"resource":"secrets"},"responseStatus":{"code":403}}
{"verb":"patch","user":{"username":"system:serviceaccount:app:op"},"objectRef":{"resource":"chains","subresource":"status","apiGroup":"boardwalk.dev"},"responseStatus":{"code":403}}
{"verb":"list","user":{"username":"system:serviceaccount:app:op"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200}}
{"verb":"list","user":{"username":"system:serviceaccount:other:op"},"objectRef":{"resource":"pods"},"responseStatus":{"code":403}}
{"verb":"get","user":{"username":"system:serviceaccount:app:op"},"requestURI":"/metrics","responseStatus":{"code":403}}
{"verb":"get","user":{"userna`
	if err := os.Mkdir(filepath.Join(n.dir, "log"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(n.auditLog(), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := n.Denied("app")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"op: get /metrics", "op: list secrets", "op: patch chains/status of boardwalk.dev"}; !slices.Equal(got, want) {
		t.Errorf("%q, wanted %q", got, want)
	}
}
