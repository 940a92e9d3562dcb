package limit

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// errAddress never repeats the address that it is about: there may be a password in it, and what was mistyped may have
// put it anywhere.
var errAddress = errors.New("the Redis address can't be read (it isn't repeated here, for it may hold a password); allowed: " +
	"redis://[user:password@]host[:port][/database], rediss://… for TLS, unix://[user:password@]/path/to/socket[?db=database]; " +
	"in a user or a password, write what isn't a letter or a digit percent-encoded, as %2F for a slash")

// OpenRedis makes a client for the Redis at an address, redis://, rediss:// (TLS) or unix://. It doesn't connect: NewRedis
// decides without a Redis that isn't there. No error of it repeats the address. It turns off what the Redis library logs,
// for the whole process, because that names hosts and repeats itself.
func OpenRedis(address string) (*redis.Client, error) {
	// The parsers' errors repeat what they can't read. A fragment is no part of an address, but what follows a bare # in a
	// password looks like one.
	if u, err := url.Parse(address); err != nil || u.Fragment != "" {
		return nil, errAddress
	}
	o, err := redis.ParseURL(address)
	if err != nil {
		return nil, errAddress
	}
	logging.Disable()
	// The deadline of a Take is for all of it. A second attempt could count a request twice, and has its place in the next
	// Take.
	o.ContextTimeoutEnabled = true
	o.MaxRetries, o.DialerRetries = -1, 1
	// Nothing is pushed to this client, and no more round trips are needed at connecting.
	o.Protocol, o.DisableIdentity = 2, true
	return redis.NewClient(o), nil
}

// code is how Redis begins its errors.
var code = regexp.MustCompile(`^[A-Z]{2,16}$`)

// reason names an error of Redis without its text, in which a host stands or, as when Redis doesn't know the command that
// should log in, a password.
func reason(err error) string {
	var (
		answer  redis.Error
		number  syscall.Errno
		dns     *net.DNSError
		untrust *tls.CertificateVerificationError
		timeout net.Error
	)
	switch {
	case errors.As(err, &answer):
		if first, _, _ := strings.Cut(answer.Error(), " "); code.MatchString(first) {
			return "Redis answered " + first
		}
		return "Redis answered with an error"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "no answer in time"
	case errors.As(err, &dns):
		return "the host's name was not found"
	case errors.As(err, &untrust):
		return "its TLS certificate is not one to trust"
	case errors.As(err, &number):
		return number.Error()
	case errors.Is(err, redis.ErrPoolTimeout):
		return "no connection was free in time"
	case errors.Is(err, io.EOF):
		return "the connection was closed"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	default:
		return "the connection failed"
	}
}
