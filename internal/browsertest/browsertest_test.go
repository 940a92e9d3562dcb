package browsertest

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// server serves bodies by path; a path that ends in .json may be read by any origin, .closed by its own alone.
func server(t *testing.T, pages map[string]string, policy string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if strings.HasSuffix(r.URL.Path, ".json") {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			w.Header().Set("Access-Control-Allow-Headers", "X-Api-Key")
			w.Header().Set("Access-Control-Expose-Headers", "X-Seen")
			w.Header().Set("X-Seen", r.Method+" "+r.Header.Get("X-Api-Key"))
			w.Header().Set("Content-Type", "application/json")
		}
		_, _ = fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

const page = `<!doctype html><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">`

func TestFindsAChromiumOrSaysWhatToDo(t *testing.T) {
	t.Parallel()
	path, err := find(func(name string) (string, error) {
		if name == "chromium" {
			return "/opt/chromium", nil
		}
		return "", exec.ErrNotFound
	})
	if path != "/opt/chromium" || err != nil {
		t.Errorf("found %q, %v", path, err)
	}
	_, err = find(func(string) (string, error) { return "", exec.ErrNotFound })
	if err == nil || !strings.Contains(err.Error(), "make setup") {
		t.Errorf("without a Chromium: %v", err)
	}
}

func TestTheBrowserEndsWithTheTest(t *testing.T) {
	t.Parallel()
	var profile string
	t.Run("browser", func(t *testing.T) {
		ctx, _ := Start(t).Page(t, Desktop)
		pid := chromedp.FromContext(ctx).Browser.Process().Pid
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			t.Fatal(err)
		}
		for arg := range strings.SplitSeq(string(command), "\x00") {
			if dir, ok := strings.CutPrefix(arg, "--user-data-dir="); ok {
				profile = dir
			}
		}
		if _, err := os.Stat(profile); err != nil || len(using(t, profile)) == 0 {
			t.Fatalf("the browser has no profile %q: %v", profile, err)
		}
	})
	if left := using(t, profile); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
	if _, err := os.Stat(profile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the profile is left: %v", err)
	}
}

// using gives the processes that name a profile. The program on the PATH may be a script whose child is the browser.
func using(t *testing.T, profile string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(all) == 0 {
		t.Fatalf("no processes to look at: %v", err)
	}
	return slices.DeleteFunc(all, func(file string) bool {
		command, err := os.ReadFile(file)
		return err != nil || !strings.Contains(string(command), "--user-data-dir="+profile)
	})
}

func TestPages(t *testing.T) {
	t.Parallel()
	browser := Start(t)
	t.Run("what goes wrong is recorded", func(t *testing.T) {
		t.Parallel()
		at := server(t, map[string]string{"/": page + `<p>hello</p><script>
			console.error('said', 'so'); console.log('fine');
			fetch('http://outside.example/').catch(() => {});
			fetch('/missing').then(() => { document.body.dataset.done = '1'; });
			setTimeout(() => { throw new Error('nobody caught it'); }, 0);
		</script>`}, "")
		ctx, seen := browser.Page(t, Desktop)
		if status, err := Open(ctx, at+"/"); status != 200 || err != nil {
			t.Fatal(status, err)
		}
		if err := Until(ctx, `document.body.dataset.done`); err != nil {
			t.Fatal(err)
		}
		// The script's own request to the outside may still be under way: only of this one is the failure sure to be known.
		if _, err := Eval[int](ctx, `fetch('http://outside.example/again').then(() => 1, () => 2)`); err != nil {
			t.Fatal(err)
		}
		contains(t, "console", seen.ConsoleErrors(), "said so", "nobody caught it", "/missing")
		if joined := strings.Join(seen.ConsoleErrors(), "\n"); strings.Contains(joined, "fine") {
			t.Errorf("what is no error is among the errors:\n%s", joined)
		}
		contains(t, "failed", seen.FailedRequests(), "/missing: status 404", "outside.example/again: net::ERR_NAME_NOT_RESOLVED")
		contains(t, "strangers", seen.Strangers(at), "http://outside.example/")
		if slices.Contains(seen.Strangers(at), at+"/") {
			t.Error("the page itself is no stranger")
		}
	})
	t.Run("a clean page has a clean record", func(t *testing.T) {
		t.Parallel()
		at := server(t, map[string]string{"/": page + `<p>hello</p>`}, "default-src 'self'; img-src data:")
		ctx, seen := browser.Page(t, Desktop)
		if _, err := Open(ctx, at+"/"); err != nil {
			t.Fatal(err)
		}
		if err := Until(ctx, `document.readyState === 'complete'`); err != nil {
			t.Fatal(err)
		}
		for what, list := range map[string][]string{
			"console": seen.ConsoleErrors(), "failed": seen.FailedRequests(),
			"violations": seen.PolicyViolations(), "strangers": seen.Strangers(at),
		} {
			if len(list) > 0 {
				t.Errorf("%s: %q", what, list)
			}
		}
	})
	t.Run("a violated policy is recorded", func(t *testing.T) {
		t.Parallel()
		at := server(t, map[string]string{"/": page + `<script>document.title = 'ran'</script>`}, "script-src 'self'")
		ctx, seen := browser.Page(t, Desktop)
		if _, err := Open(ctx, at+"/"); err != nil {
			t.Fatal(err)
		}
		if title, err := Eval[string](ctx, `document.title`); title != "" || err != nil {
			t.Errorf("title %q, %v", title, err)
		}
		contains(t, "violations", seen.PolicyViolations(), "script-src")
	})
	t.Run("screens", func(t *testing.T) {
		t.Parallel()
		at := server(t, map[string]string{"/": page + `<div style="height:3000px">tall</div>`}, "")
		for _, s := range []Screen{Desktop, Phone, Desktop.InDark(), Phone.InDark()} {
			ctx, _ := browser.Page(t, s)
			if _, err := Open(ctx, at+"/"); err != nil {
				t.Fatal(err)
			}
			got, err := Eval[Screen](ctx, `({Width: innerWidth, Height: innerHeight, Phone: navigator.maxTouchPoints > 0,
				Dark: matchMedia('(prefers-color-scheme: dark)').matches})`)
			if got != s || err != nil {
				t.Errorf("%+v is shown as %+v, %v", s, got, err)
			}
			picture, err := Picture(ctx)
			if err != nil {
				t.Fatal(err)
			}
			c, err := png.DecodeConfig(bytes.NewReader(picture))
			if err != nil || c.Width != int(s.Width) || c.Height < 3000 {
				t.Errorf("%+v: picture of %d x %d, %v", s, c.Width, c.Height, err)
			}
		}
	})
}

func TestFetchAcrossOrigins(t *testing.T) {
	t.Parallel()
	here := server(t, map[string]string{"/": page}, "")
	there := server(t, map[string]string{"/open.json": `{"answer": 42}`, "/closed": `{}`}, "")
	ctx, seen := Start(t).Page(t, Desktop)
	if _, err := Open(ctx, here+"/"); err != nil {
		t.Fatal(err)
	}
	answer, err := Fetch(ctx, Request{URL: there + "/open.json"})
	if err != nil {
		t.Fatal(err)
	}
	var body struct{ Answer int }
	if err := answer.JSON(&body); err != nil || body.Answer != 42 {
		t.Errorf("body %q: %v", answer.Body, err)
	}
	if answer.Status != 200 || answer.Type != "cors" || answer.Header["x-seen"] != "GET" {
		t.Errorf("answer %+v", answer)
	}

	// A header of its own makes the browser ask first.
	answer, err = Fetch(ctx, Request{URL: there + "/open.json", Header: map[string]string{"X-Api-Key": "</script>"}})
	if err != nil || answer.Header["x-seen"] != "GET </script>" {
		t.Errorf("with a header: %+v, %v", answer, err)
	}

	if _, err := Fetch(ctx, Request{URL: there + "/closed"}); err == nil || !strings.Contains(err.Error(), "Failed to fetch") {
		t.Errorf("what the other origin doesn't allow was read: %v", err)
	}
	contains(t, "failed", seen.FailedRequests(), "/closed: net::ERR_FAILED (cross-origin: MissingAllowOriginHeader)")
	if err := (Answer{Body: "<html>"}).JSON(&body); err == nil {
		t.Error("HTML was read as JSON")
	}
}

// contains fails the test unless each part is in one of the lines.
func contains(t *testing.T, what string, lines []string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, part) }) {
			t.Errorf("%s: %q is in none of %q", what, part, lines)
		}
	}
}
