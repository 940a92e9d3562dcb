package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
)

func TestRegistriesThatCannotBeNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path  string
		plain bool
		want  string
	}{
		{"", false, "-registry is missing"},
		{"https://registry.example.com/reef", false, "has a scheme"},
		{"reef/boardwalk", false, "write it such as registry.example.com/boardwalk"},
		{"registry.example.com/Reef", false, "write it such as registry.example.com/boardwalk"},
		{"registry.example.com/reef", true, "-plain-http is for a registry on this machine"},
		{"10.0.0.1:5000/reef", true, "-plain-http is for a registry on this machine"},
		{"localhost.example.com/reef", true, "-plain-http is for a registry on this machine"},
	} {
		if _, err := openRegistry(c.path, c.plain, authn.DefaultKeychain); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, wanted %q", c.path, err, c.want)
		}
	}
	for _, path := range []string{"localhost:5000/reef", "127.0.0.2:5000", "[::1]:5000/reef/"} {
		if _, err := openRegistry(path, true, authn.DefaultKeychain); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestErrorsOfRegistriesSayWhatToDo(t *testing.T) {
	t.Parallel()
	answers := func(status int) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v2/" && status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", `Basic realm="reef"`)
			} else if r.URL.Path == "/v2/" {
				return
			}
			w.WriteHeader(status)
		}))
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	}
	encrypted := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(encrypted.Close)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	plain := answers(http.StatusOK)
	for _, c := range []struct {
		address string
		plain   bool
		want    string
	}{
		{answers(http.StatusUnauthorized), true, "log in with docker login "},
		{answers(http.StatusForbidden), true, "use those of an account that may push"},
		{"registry.reef.invalid", false, "no host is called registry.reef.invalid: check -registry"},
		{strings.TrimPrefix(encrypted.URL, "https://"), false, "is not trusted"},
		{strings.TrimPrefix(closed.URL, "http://"), true, "can't be reached"},
		{plain, false, "has to speak HTTPS"},
	} {
		r, err := openRegistry(c.address+"/reef", c.plain, authn.DefaultKeychain)
		if err != nil {
			t.Fatal(err)
		}
		repository, err := r.repository("boardwalk")
		if err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{"push": r.mayPush(repository), "read": func() error {
			_, err := r.digest(t.Context(), repository.Tag("1"))
			return err
		}()} {
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.address) {
				t.Errorf("%s: %v, wanted %q and the registry's name", what, err, c.want)
			}
		}
	}
}

// TestPasswordsComeFromDocker and aren't told where they are refused.
func TestPasswordsComeFromDocker(t *testing.T) {
	f := newFake(t, true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ada" || password != "pearl" {
			w.Header().Set("WWW-Authenticate", `Basic realm="reef"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		f.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://")
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	for _, c := range []struct{ password, want string }{{"coral", "docker login " + address}, {"pearl", ""}} {
		config := `{"auths":{"` + address + `":{"username":"ada","password":"` + c.password + `"}}}`
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		r, _ := newTestRun(t, address, nil)
		a := tiny(t, r, "one")
		err := r.release(t.Context(), []artefact{a})
		if c.want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.password) {
			t.Errorf("%v, wanted %q", err, c.want)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Setenv("COSIGN_PASSWORD", "")
	r, err := newRun([]string{"-registry", "registry.example.com/reef", "-platforms", "linux/arm64"}, io.Discard)
	if err != nil || len(r.kinds) != 2 || len(r.platforms) != 1 || r.key != nil || r.id != defaultBuilder || r.registry.path != "registry.example.com/reef" {
		t.Errorf("%+v, %v", r, err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "-registry is missing"},
		{[]string{"-registry", "registry.example.com/reef", "now"}, `"now" is no argument`},
		{[]string{"-registry", "registry.example.com/reef", "-platforms", "linux/386"}, "there are linux/amd64 and linux/arm64"},
		{[]string{"-registry", "registry.example.com/reef", "-key", filepath.Join(t.TempDir(), "none")}, "read the key"},
	} {
		if _, err := newRun(c.args, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, wanted %q", c.args, err, c.want)
		}
	}
}
