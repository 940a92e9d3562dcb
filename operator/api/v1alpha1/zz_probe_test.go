package v1alpha1_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
)

func TestProbe(t *testing.T) {
	c, err := kubetest.Start(context.Background(), kubetest.Options{CRDs: []string{"../../../config/crd/bases"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	h, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := os.Create("/tmp/probe/out.txt")
	for kind, list := range map[string][]resolvetest.Refused{"chains": resolvetest.Chains(), "launchvenues": resolvetest.Venues()} {
		for _, tt := range list {
			resp, err := h.Post(c.Config.Host+"/apis/boardwalk.dev/v1alpha1/namespaces/default/"+kind+"?dryRun=All&fieldValidation=Strict", "application/yaml", strings.NewReader(tt.Manifest))
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(resp.Body)
			var s struct{ Message string }
			_ = json.Unmarshal(b, &s)
			if resp.StatusCode == http.StatusCreated {
				s.Message = "ACCEPTED"
			}
			fmt.Fprintf(f, "%s|%s|%s\n", kind, tt.Name, s.Message)
		}
	}
}
