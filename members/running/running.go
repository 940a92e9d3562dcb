// Package running tells in the stream which launches pass the launch board's quality bar for the first time. It asks the API server for them, which ranks all
// launches.
package running

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

// Every is the time between two looks, as between two rankings of the API server.
const Every = 15 * time.Second

const (
	// cardsAtOnce is how many launches a page of the board has, and mostPages how many pages are read at most: the first thousand launches of Running.
	cardsAtOnce, mostPages = 100, 10
	// toldAtOnce is how many launches are told in one transaction. The intake waits meanwhile.
	toldAtOnce = 100
	// answerTime is how long the API server may take for a page, and longestPage how many bytes a page may have: far above what it has.
	answerTime, longestPage = 5 * time.Second, 8 << 20
	// anewEvery is after how many looks all are told anew: the database may have lost some without anybody's knowing.
	anewEvery = 40
	// oldest is the age from which on a launch isn't told, in seconds: the stream may have told it, and forgotten that since.
	oldest = int64(store.StreamKept)/int64(time.Second) - 60*60
)

// Stream is where launches are told.
type Stream interface {
	// Tell tells of the launches that it has never told, under the lease. now is unix seconds.
	Tell(ctx context.Context, l *social.Lease, launches []social.LaunchAt, now int64) error
}

// Follower follows the launches that pass the quality bar. One goroutine calls Look.
type Follower struct {
	stream Stream
	board  string
	http   *http.Client
	now    func() time.Time
	// told are the launches of the last look, all of which were told, and looks is how many looks there were since they were all told anew.
	told  map[social.LaunchAt]bool
	looks int
	// forgotten says that Forget was called since the last look.
	forgotten atomic.Bool
}

// New makes a follower that asks the API server at an address, as in http://127.0.0.1:8080.
func New(address string, to Stream, now func() time.Time) (*Follower, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("the API server's address %.200q: allowed is one like http://127.0.0.1:8080", address)
	}
	return &Follower{stream: to, board: strings.TrimRight(address, "/") + "/api/launch/launches", now: now, http: &http.Client{
		Timeout: answerTime,
		// The proxy of the environment is for what is outside.
		Transport:     &http.Transport{IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Forget has the next look tell all launches again that the stream doesn't have: it may have lost some. Any goroutine may call it.
func (f *Follower) Forget() { f.forgotten.Store(true) }

var errStale = errors.New("the launch board is stale")

// Look asks which launches pass the quality bar, and tells those that are new, under the lease. What was read before a failure is told.
func (f *Follower) Look(ctx context.Context, l *social.Lease) error {
	found, failed := f.read(ctx)
	if failed != nil {
		f.http.CloseIdleConnections() // another API server may answer the next time
	}
	if f.looks++; f.forgotten.Swap(false) || f.looks >= anewEvery {
		f.told, f.looks = nil, 0
	}
	now := f.now().Unix()
	var untold []social.LaunchAt
	told := make(map[social.LaunchAt]bool, len(found))
	for _, at := range slices.Backward(found) { // so that the best gets the highest number
		if !told[at] && !f.told[at] {
			untold = append(untold, at)
		}
		told[at] = true
	}
	for some := range slices.Chunk(untold, toldAtOnce) {
		if err := f.stream.Tell(ctx, l, some, now); err != nil {
			f.told = nil
			return errors.Join(failed, err)
		}
	}
	f.told = told
	return failed
}

// page is what the follower reads of a page of the launch board.
type page struct {
	Stale    bool `json:"stale"`
	Launches []struct {
		Chain     string    `json:"chain"`
		Mint      string    `json:"mint"`
		CreatedAt time.Time `json:"created_at"`
	} `json:"launches"`
	NextBefore *string `json:"next_before"`
}

// read reads the board page by page, the best launches first. A launch that can't be read leaves out itself alone.
func (f *Follower) read(ctx context.Context) (found []social.LaunchAt, err error) {
	var failed []error
	before := ""
	for range mostPages {
		p, err := f.readPage(ctx, before)
		if err != nil {
			return found, errors.Join(append(failed, err)...)
		}
		if p.Stale { // what passes by old figures is no news
			return found, errors.Join(append(failed, errStale)...)
		}
		for _, c := range p.Launches {
			mint, err := member.ParseMint(c.Mint)
			if err != nil || c.Chain == "" {
				failed = append(failed, fmt.Errorf("the launch board has a token %.80q on a chain %.40q", c.Mint, c.Chain))
			} else if f.now().Unix()-c.CreatedAt.Unix() < oldest {
				found = append(found, social.LaunchAt{Chain: c.Chain, Mint: mint})
			}
		}
		if p.NextBefore == nil {
			break
		}
		before = *p.NextBefore
	}
	return found, errors.Join(failed...)
}

// readPage reads a page of the board.
func (f *Follower) readPage(ctx context.Context, before string) (p page, err error) {
	q := url.Values{"sort": {"running"}, "limit": {strconv.Itoa(cardsAtOnce)}}
	if before != "" {
		q.Set("before", before)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.board+"?"+q.Encode(), http.NoBody)
	if err != nil {
		return p, err
	}
	res, err := f.http.Do(req)
	if err != nil {
		return p, fmt.Errorf("ask for the launch board: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return p, fmt.Errorf("ask for the launch board: %s answers %s", req.URL.Host, res.Status)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, longestPage+1))
	if err != nil {
		return p, fmt.Errorf("read the launch board: %w", err)
	}
	if len(body) > longestPage {
		return p, fmt.Errorf("%s answers with more than %d bytes", req.URL.Host, longestPage)
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return p, fmt.Errorf("read the launch board: %w", err)
	}
	return p, nil
}
