package browsertest

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
)

// Record is what a page did since it was opened, over all documents that were shown in it.
type Record struct {
	mu         sync.Mutex
	requests   []string
	failed     []string
	errors     []string
	violations []string
	urls       map[network.RequestID]string
}

// Requests are the addresses asked for, redirects included, in order.
func (r *Record) Requests() []string { return r.copied(&r.requests) }

// FailedRequests are the requests that got no answer, or one of status 400 or above, each with its reason. A fetch that the
// page itself gave up is none of them.
func (r *Record) FailedRequests() []string { return r.copied(&r.failed) }

// ConsoleErrors are the errors on the console: those that scripts wrote, those that nothing caught, and the browser's own,
// which include failed requests.
func (r *Record) ConsoleErrors() []string { return r.copied(&r.errors) }

// PolicyViolations are the breaches of the content security policy, as the browser reports them.
func (r *Record) PolicyViolations() []string { return r.copied(&r.violations) }

// Strangers are the requests that went elsewhere than to one of the origins, such as http://127.0.0.1:8080. What never
// leaves the browser (data:, blob:, about:) is no stranger.
func (r *Record) Strangers(origins ...string) []string {
	return slices.DeleteFunc(r.Requests(), func(url string) bool {
		for _, inside := range []string{"data:", "blob:", "about:"} {
			if strings.HasPrefix(url, inside) {
				return true
			}
		}
		return slices.ContainsFunc(origins, func(origin string) bool {
			return url == origin || strings.HasPrefix(url, origin+"/")
		})
	})
}

func (r *Record) copied(list *[]string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(*list)
}

// note is called for every event of the tab, in order, and must not wait.
func (r *Record) note(event any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		r.urls[e.RequestID] = e.Request.URL
		r.requests = append(r.requests, e.Request.URL)
	case *network.EventResponseReceived:
		if e.Response.Status >= 400 {
			r.failed = append(r.failed, fmt.Sprintf("%s: status %d", e.Response.URL, e.Response.Status))
		}
	case *network.EventLoadingFailed:
		if !e.Canceled {
			r.failed = append(r.failed, fmt.Sprintf("%s: %s%s", r.urls[e.RequestID], e.ErrorText, reason(e)))
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			r.errors = append(r.errors, joined(e.Args))
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			text += " " + thrown.Description
		}
		r.errors = append(r.errors, text)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			r.errors = append(r.errors, strings.TrimSpace(e.Entry.Text+" "+e.Entry.URL))
		}
	case *audits.EventIssueAdded:
		if v := e.Issue.Details.ContentSecurityPolicyIssueDetails; v != nil {
			r.violations = append(r.violations, strings.TrimSpace(v.ViolatedDirective+" "+v.BlockedURL))
		}
	}
}

func reason(e *network.EventLoadingFailed) string {
	switch {
	case e.CorsErrorStatus != nil:
		return " (cross-origin: " + string(e.CorsErrorStatus.CorsError) + ")"
	case e.BlockedReason != "":
		return " (blocked: " + string(e.BlockedReason) + ")"
	default:
		return ""
	}
}

// joined is a console call's arguments as text.
func joined(args []*runtime.RemoteObject) string {
	texts := make([]string, 0, len(args))
	for _, a := range args {
		text := a.Description
		if text == "" {
			text = strings.Trim(string(a.Value), `"`)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " ")
}
