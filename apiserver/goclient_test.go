package apiserver_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract/clienttest"
)

// TestGoClient has oapi-codegen make a client of the document as it is served, without the overlay that our own types are made
// with. The client compiles, and what it reads of answers is all that they have.
func TestGoClient(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	_, document := startWith(t, o).do(t, http.MethodGet, "/openapi.json", nil)
	read := clienttest.GoClient(t, document, "http://"+listening(t, o), token, "base")
	if len(read) != 8 {
		t.Errorf("the client asked for %d operations, want 8", len(read))
	}
	for operation, r := range read {
		var sent, understood any
		if err := json.Unmarshal(r.Sent, &sent); err != nil {
			t.Errorf("%s: %v", operation, err)
		}
		if err := json.Unmarshal(r.Understood, &understood); err != nil {
			t.Errorf("%s: %v", operation, err)
		}
		if sent == nil || !reflect.DeepEqual(sent, understood) {
			t.Errorf("%s: the client made\n%s of\n%s", operation, r.Understood, r.Sent)
		}
	}
}
