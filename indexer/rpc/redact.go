package rpc

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
)

// discreet is an error whose text has nothing of an endpoint's URL: errors end in logs, in the indexer's state, and from there in
// the status of a resource that more people may read than the Secret with the URL. errors.Is and As see the error itself.
type discreet struct {
	error

	text string
}

func (e discreet) Error() string { return e.text }

func (e discreet) Unwrap() error { return e.error }

// WithoutURL says why a request to an endpoint failed, in words that are the same each time.
func WithoutURL(endpoint string, err error) error {
	text := err.Error()
	var outer *url.Error
	var name *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		text = "its host isn't known"
	case errors.As(err, &name):
		text = "its host's name can't be looked up"
	case errors.As(err, &op):
		text = op.Op + ": " + op.Err.Error() // without addresses and ports, which differ each time
	case strings.Contains(text, "invalid proxy address"): // Go repeats it, and with it the password
		text = "HTTPS_PROXY or HTTP_PROXY isn't the address of a proxy, as in http://USER:PASSWORD@HOST:PORT with % and # escaped"
	case errors.As(err, &outer):
		text = outer.Err.Error()
	}
	return discreet{err, Redact(endpoint, text)}
}

// Redact takes the parts of a URL that may be secret out of a text: a node may repeat what it was asked for. Short parts, such
// as v2, are no keys.
func Redact(endpoint, text string) string {
	const shortest = 6
	u, err := url.Parse(endpoint)
	if err != nil {
		return "an error whose text may have parts of the URL"
	}
	parts := []string{endpoint, u.Host, u.Hostname(), u.Path, u.RawQuery, u.User.Username()}
	if password, ok := u.User.Password(); ok {
		parts = append(parts, password)
	}
	parts = append(parts, strings.Split(u.Path, "/")...)
	parts = append(parts, strings.Split(u.EscapedPath(), "/")...)
	parts = append(parts, strings.Split(u.Hostname(), ".")...)
	for key, values := range u.Query() {
		parts = append(append(parts, key), values...)
	}
	slices.SortFunc(parts, func(a, b string) int { return len(b) - len(a) })
	for _, p := range parts {
		if len(p) >= shortest {
			text = strings.ReplaceAll(text, p, "…")
		}
	}
	return text
}
