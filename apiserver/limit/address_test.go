package limit

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/boardwalkhq/boardwalk/internal/redistest"
)

func TestOpenRedis(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"redis://localhost", "redis://localhost:6379/2", "redis://:s3cret@redis.internal:6379", "rediss://user:s3cret@redis.internal",
		"unix:///run/redis.sock", "unix://user:s3cret@/run/redis.sock?db=2", "redis://:a%2Fb%23c@[::1]:6379/0",
	} {
		rdb, err := OpenRedis(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		o := rdb.Options()
		if strings.HasPrefix(address, "rediss:") != (o.TLSConfig != nil) {
			t.Errorf("%s: TLS is %t", address, o.TLSConfig != nil)
		}
		if !o.ContextTimeoutEnabled || o.MaxRetries != 0 {
			t.Errorf("%s: keeps to deadlines is %t, retries are %d", address, o.ContextTimeoutEnabled, o.MaxRetries)
		}
		_ = rdb.Close()
	}
	for _, address := range []string{
		"", "s3cret", "s3cret@redis.internal:6379", "redis.internal:6379", "http://:s3cret@redis.internal", "s3cret://redis.internal",
		"redis://:s3cret/x@redis.internal:6379", "redis://:12/s3cret@redis.internal:6379", "redis://:12#s3cret@redis.internal:6379",
		"redis://:12?s3cret@redis.internal:6379", "redis://:s3cret%zz@redis.internal", "redis://:s3cret@redis.internal:port",
		"redis://:s3cret@redis.internal/notanumber", "redis://:s3cret@redis.internal/0/1", "redis://:s3cret@redis.internal?db=s3cret",
		"unix://:s3cret@", "redis://:s3cret@redis.internal?s3cret=1", "redis://:s3cret@redis.internal\x7f",
	} {
		_, err := OpenRedis(address)
		if err == nil {
			t.Errorf("%q is taken", address)
			continue
		}
		if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "internal") {
			t.Errorf("%q: the error repeats the address: %v", address, err)
		}
		if !strings.Contains(err.Error(), "rediss://") || !strings.Contains(err.Error(), "unix://") {
			t.Errorf("%q: the error doesn't say what is allowed: %v", address, err)
		}
	}
}

// TestNothingSecretIsLogged covers a server that repeats what it was sent, as one does that doesn't know the command for
// logging in.
func TestNothingSecretIsLogged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		settings []string
		login    string
		reason   string
	}{
		{"a wrong password", []string{"--requirepass", "other"}, ":s3cret@", `"Redis answered WRONGPASS"`},
		{"no password", []string{"--requirepass", "other"}, "", `"Redis answered NOAUTH"`},
		{
			"no command for logging in",
			[]string{"--rename-command", "HELLO", "", "--rename-command", "AUTH", ""},
			"s3cret:s3cret@", `"Redis answered ERR"`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, c.settings...)
			f := newRedisFixture(t, strings.Replace(server.Address(), "://", "://"+c.login, 1), patient)
			d := f.limiter.Take(t.Context(), someone(1), &Policy{Name: "getThing", Quota: 3, Window: time.Minute})
			if !d.Allowed {
				t.Errorf("got %+v, want it decided in memory", d)
			}
			got := f.log.lines()
			if len(got) != 1 || !strings.HasSuffix(got[0], "reason="+c.reason) {
				t.Errorf("the log is %q, want the reason %s", got, c.reason)
			}
			if all := strings.Join(got, "\n"); strings.Contains(all, "s3cret") || strings.Contains(all, "redis.sock") {
				t.Errorf("the log has the password or the address: %s", all)
			}
		})
	}
}

func TestReason(t *testing.T) {
	t.Parallel()
	_, unknownSocket := (&net.Dialer{}).DialContext(t.Context(), "unix", "/nonexistent/redis.sock")
	for _, c := range []struct {
		err  error
		want string
	}{
		{unknownSocket, "no such file or directory"},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, "connection refused"},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Name: "redis.internal", IsNotFound: true}}, "the host's name was not found"},
		{fmt.Errorf("read: %w", io.EOF), "the connection was closed"},
		{fmt.Errorf("wait: %w", context.DeadlineExceeded), "no answer in time"},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, "no answer in time"},
		{redis.ErrPoolTimeout, "no connection was free in time"},
		{&tls.CertificateVerificationError{Err: errors.New("x509: for redis.internal")}, "its TLS certificate is not one to trust"},
		{errors.New("redis: redis.internal is odd"), "the connection failed"},
	} {
		if got := reason(c.err); got != c.want {
			t.Errorf("%v: got %q, want %q", c.err, got, c.want)
		}
	}
}
