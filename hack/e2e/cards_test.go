//go:build e2e && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// answer is what came back of a request, whatever its status.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// fetch asks an address and takes any answer.
func (c *cluster) fetch(url string, header http.Header) (answer, error) {
	request, err := http.NewRequestWithContext(c.ctx, http.MethodGet, url, nil)
	if err != nil {
		return answer{}, err
	}
	request.Header = header.Clone()
	response, err := c.HTTP().Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 4<<20))
	return answer{response.StatusCode, response.Header, body}, err
}

// cardPath is that of the n-th plain token's card.
func (s step) cardPath(n int) string {
	s.Helper()
	return "/api/pnl-card/token/" + s.world.TokensLike(world.Plain)[n].Address + ".png?chain=base"
}

func (s step) apiAddress() string {
	s.Helper()
	return "http://" + s.kubectl("get", "service", apiService, "-o", "jsonpath={.spec.clusterIP}")
}

// apiPod is the newest of the API servers' pods.
func (s step) apiPod() (name, address string) {
	s.Helper()
	out := s.kubectl("get", "pods", "-l", "app.kubernetes.io/name=boardwalk,app.kubernetes.io/component=apiserver",
		"--sort-by=.metadata.creationTimestamp", "-o", "jsonpath={.items[-1:].metadata.name} {.items[-1:].status.podIP}")
	name, ip, _ := strings.Cut(out, " ")
	return name, "http://" + ip + ":8080"
}

// checkCard looks whether an answer is a picture of a card, with something drawn on it.
func checkCard(a answer) error {
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "image/png" || a.header.Get("ETag") == "" {
		return fmt.Errorf("status %d, headers %v: %.200s", a.status, a.header, a.body)
	}
	card, err := png.Decode(bytes.NewReader(a.body))
	if err != nil {
		return err
	}
	if size := card.Bounds().Size(); size != image.Pt(1200, 630) {
		return fmt.Errorf("the card measures %s", size)
	}
	colours := make(map[color.Color]bool)
	for y := 0; y < 630; y += 3 {
		for x := 0; x < 1200; x += 3 {
			colours[card.At(x, y)] = true
		}
	}
	if len(colours) < 16 {
		return fmt.Errorf("the card has %d colours: nothing is written on it", len(colours))
	}
	return nil
}

func (s step) testCards() {
	service := s.apiAddress()
	began := time.Now()
	s.eventually(30*time.Second, func() error {
		got, err := s.fetch(service+s.cardPath(0), nil)
		if err != nil {
			return err
		}
		if err := checkCard(got); err != nil {
			return err
		}
		// Its figures may move in between: then it is drawn again.
		again, err := s.fetch(service+s.cardPath(0), http.Header{"If-None-Match": {got.header.Get("ETag")}})
		if err == nil && (again.status != http.StatusNotModified || len(again.body) > 0) {
			err = fmt.Errorf("asked with its ETag, the card comes with status %d and %d bytes", again.status, len(again.body))
		}
		s.Logf("a card of %d bytes, %.1f s after the first was asked for", len(got.body), time.Since(began).Seconds())
		return err
	})
	s.checkProtection("RuntimeDefault")
}

// checkProtection looks whether the renderer says what its browser is held by.
func (s step) checkProtection(profile string) (sandbox bool) {
	s.Helper()
	pod, _ := s.apiPod()
	log := s.kubectl("logs", pod, "-c", "renderer")
	for line := range strings.Lines(log) {
		var said struct {
			Msg              string
			Sandbox          *bool
			NetworkNamespace *bool `json:"network_namespace"`
			User             int
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil || said.Msg != "the browser runs" {
			continue
		}
		if said.Sandbox == nil || said.NetworkNamespace == nil || said.User != 65532 {
			s.Errorf("the renderer says %s", line)
			return false
		}
		s.Logf("with the seccomp profile %s: sandbox %t, network namespace %t", profile, *said.Sandbox, *said.NetworkNamespace)
		return *said.Sandbox
	}
	s.Errorf("the renderer doesn't say what its browser is held by:\n%s", log)
	return false
}

// testRendererKilled ends the browser, and then the whole sidecar. Whoever asks meanwhile gets a card or is told when to come
// again, and the API answers as ever.
func (s step) testRendererKilled() {
	service := s.apiAddress()
	name, pod := s.apiPod()
	ended, err := s.SignalProgram(s.ctx, namespace, name, "renderer", "chromium-headless-shell", syscall.SIGKILL)
	if err != nil {
		s.Fatal(err)
	}
	if ended == 0 {
		s.Fatal("no browser runs in the renderer's container")
	}
	s.drawsAgain(service, service+s.cardPath(1))
	if restarts := s.restarts(name); restarts != "0" {
		s.Errorf("the renderer was started %s times again, when its browser was ended", restarts)
	}

	if err := s.Signal(s.ctx, namespace, name, "renderer", syscall.SIGKILL); err != nil {
		s.Fatal(err)
	}
	// While a container of it starts, a pod isn't ready: the Service may leave it out for a moment. The pod answers.
	s.drawsAgain(pod, pod+s.cardPath(2))
	s.eventually(30*time.Second, func() error {
		if restarts := s.restarts(name); restarts != "1" {
			return fmt.Errorf("the renderer was started %s times again", restarts)
		}
		got, err := s.fetch(service+s.cardPath(2), nil)
		if err != nil {
			return err
		}
		return checkCard(got)
	})
}

// testSandbox gives the node the chart's seccomp profile, as its administrators would.
func (s step) testSandbox() {
	profile, err := os.ReadFile(filepath.Join(chart, "files", "seccomp", "renderer.json"))
	if err != nil {
		s.Fatal(err)
	}
	dir := filepath.Join(s.Dir(), "kubelet", "seccomp", "boardwalk")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "renderer.json"), profile, 0o644); err != nil {
		s.Fatal(err)
	}
	s.helm("upgrade", "boardwalk", chart, "--wait", "--timeout", "5m", "-f", "values.yaml", "--set", "renderer.seccompProfile=boardwalk/renderer.json")
	s.kubectl("rollout", "status", "deployment/"+apiService, "--timeout=1m")
	service := s.apiAddress()
	s.drawsAgain(service, service+s.cardPath(3))
	if !s.checkProtection("boardwalk/renderer.json") {
		s.Error("the browser has no sandbox")
	}
}

func (s step) restarts(pod string) string {
	s.Helper()
	return s.kubectl("get", "pod", pod, "-o", `jsonpath={.status.initContainerStatuses[?(@.name=="renderer")].restartCount}`)
}

// drawsAgain asks for a card that wasn't drawn before, until it comes. Each answer before it must be one that says when to
// come again.
func (s step) drawsAgain(api, card string) {
	s.Helper()
	began, refused := time.Now(), 0
	s.eventually(time.Minute, func() error {
		if version, err := s.fetch(api+"/api/version", nil); err != nil || version.status != http.StatusOK {
			s.Fatalf("the API itself says %d, %v", version.status, err)
		}
		asked := time.Now()
		got, err := s.fetch(card, nil)
		if err != nil {
			s.Fatal(err)
		}
		if took := time.Since(asked); took > 12*time.Second {
			s.Errorf("an answer took %s", took)
		}
		if got.status == http.StatusServiceUnavailable {
			if refused++; got.header.Get("Retry-After") == "" {
				s.Errorf("503 without Retry-After: %v", got.header)
			}
			return errors.New("no card can be drawn")
		}
		return checkCard(got)
	})
	s.Logf("a new card after %.1f s and %d answers with 503", time.Since(began).Seconds(), refused)
}
