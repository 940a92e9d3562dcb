package browsertest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/chromedp/chromedp"
)

// Open shows an address and waits until it is loaded, scripts and pictures included. The status of its answer is the
// caller's to judge; that there was none is an error.
func Open(ctx context.Context, url string) (status int, err error) {
	response, err := chromedp.Run(ctx, chromedp.NavigateResponse(url))
	if err != nil {
		return 0, fmt.Errorf("open a page: %w", err)
	}
	if response == nil {
		return 0, nil // another place of the same document: nothing was asked for
	}
	return int(response.Status), nil
}

// Eval gives the value of a JavaScript expression in the page; a promise is waited for.
func Eval[T any](ctx context.Context, expression string) (T, error) {
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Until waits for a JavaScript expression to become true in the page, within the context's deadline. It evaluates nothing
// inside the page itself, which a strict policy would forbid.
func Until(ctx context.Context, expression string) error {
	_, err := Eval[bool](ctx, `new Promise((done) => {
  const look = () => { if (`+expression+`) { done(true); } else { setTimeout(look, 10); } };
  look();
})`)
	if err != nil {
		return fmt.Errorf("wait for %s: %w", expression, err)
	}
	return nil
}

// Picture is the whole page as PNG, also what is below the window.
func Picture(ctx context.Context) ([]byte, error) {
	return chromedp.Run(ctx, chromedp.FullScreenshot(100))
}

// Request is what a page asks for with fetch. Only URL is needed.
type Request struct {
	URL    string            `json:"url"`
	Method string            `json:"method,omitempty"`
	Header map[string]string `json:"headers,omitempty"`
}

// Answer is what a page may see of the answer to a Request.
type Answer struct {
	Status int `json:"status"`
	// Type is cors when the answer came from another origin and was allowed, basic within an origin.
	Type string `json:"type"`
	// Header holds what the other origin exposes, by lower-case name.
	Header map[string]string `json:"headers"`
	Body   string            `json:"body"`
}

// JSON decodes the body.
func (a Answer) JSON(into any) error {
	if err := json.Unmarshal([]byte(a.Body), into); err != nil {
		return fmt.Errorf("body of a %d answer: %w", a.Status, err)
	}
	return nil
}

// fetchScript refuses credentials, like a page that reads a public API.
const fetchScript = `(async ({url, ...init}) => {
  const answer = await fetch(url, {credentials: 'omit', cache: 'no-store', ...init});
  return {status: answer.status, type: answer.type, headers: Object.fromEntries(answer.headers), body: await answer.text()};
})`

// Fetch runs fetch in the page that is shown, under its origin and its policies. An answer that the browser keeps from the
// page, for instance because the other origin doesn't allow it, is an error.
func Fetch(ctx context.Context, r Request) (Answer, error) {
	request, err := json.Marshal(r)
	if err != nil {
		return Answer{}, fmt.Errorf("fetch: %w", err)
	}
	answer, err := Eval[Answer](ctx, fetchScript+"("+string(request)+")")
	if err != nil {
		return Answer{}, fmt.Errorf("fetch: %w", err)
	}
	return answer, nil
}
