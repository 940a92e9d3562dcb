//go:build e2e && long && linux

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// load asks the API all the while, as browsers and other programs do.
type load struct {
	stop  context.CancelFunc
	users sync.WaitGroup

	mu       sync.Mutex
	answers  int
	failures []string
}

// request is asked for again and again.
type request struct {
	path string
	// words have to be in the answer.
	words string
	every time.Duration
}

// startLoad begins to ask the API's Service, over connections that are kept and over new ones. It stays below what each client may ask.
func (s step) startLoad() *load {
	s.Helper()
	host := s.kubectl("get", "service", apiService, "-o", "jsonpath={.spec.clusterIP}:{.spec.ports[0].port}")
	mint := url.QueryEscape("base:" + s.world.Wrapped)
	l := &load{}
	ctx, stop := context.WithCancel(s.ctx)
	l.stop = stop
	for _, client := range []*http.Client{s.HTTP(), s.KeepingHTTP()} {
		for _, r := range []request{
			{"/api/version", `"commit"`, time.Second},
			{"/api/status/heartbeat", `"status"`, time.Second},
			{"/api/market/token-prices?mints=" + mint, `"price":`, time.Second},
			{"/api/majors?chain=base", `"majors"`, 3 * time.Second},
			{"/api/launch/status", `"venues"`, 3 * time.Second},
			{"/api/launch/launches", `"launches"`, 3 * time.Second},
		} {
			l.users.Go(func() { l.ask(ctx, client, "http://"+host, r) })
		}
	}
	return l
}

func (l *load) ask(ctx context.Context, client *http.Client, host string, r request) {
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := answers(ctx, client, host+r.path, r.words)
		if ctx.Err() != nil {
			return
		}
		l.mu.Lock()
		if l.answers++; err != nil {
			l.failures = append(l.failures, fmt.Sprintf("%s %s: %v", time.Now().Format(time.TimeOnly), r.path, err))
		}
		l.mu.Unlock()
	}
}

// answers asks for a page and wants 200 and some words.
func answers(ctx context.Context, client *http.Client, page, words string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, page, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 10<<20))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || !strings.Contains(string(body), words) {
		return fmt.Errorf("%s: %.200s", response.Status, body)
	}
	return nil
}

// end stops asking, and fails the test where an answer was a failure.
func (l *load) end(s step) {
	s.Helper()
	l.stop()
	l.users.Wait()
	s.Logf("%d answers, %d failures", l.answers, len(l.failures))
	if len(l.failures) > 0 || l.answers < 20 {
		s.Errorf("of %d answers %d failed:\n%s", l.answers, len(l.failures), strings.Join(l.failures[:min(20, len(l.failures))], "\n"))
	}
}
