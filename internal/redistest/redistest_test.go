package redistest

import (
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestAServerOfItsOwn(t *testing.T) {
	t.Parallel()
	s, other := Start(t), Start(t)
	rdb := client(t, s)
	if err := rdb.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if n := client(t, other).Exists(t.Context(), "k").Val(); n != 0 {
		t.Error("two servers share their keys")
	}
	if port := rdb.ConfigGet(t.Context(), "port").Val()["port"]; port != "0" {
		t.Errorf("it listens on port %s", port)
	}

	s.Kill(t)
	if err := rdb.Ping(t.Context()).Err(); err == nil {
		t.Error("it answers although it was killed")
	}
	s.Kill(t) // nothing to do

	s.Restart(t)
	if n, err := rdb.Exists(t.Context(), "k").Result(); err != nil || n != 0 {
		t.Errorf("after a restart on the same socket: %d keys, %v; want none", n, err)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	s := Start(t, "--requirepass", "secret")
	rdb := client(t, s)
	if err := rdb.Ping(t.Context()).Err(); err == nil {
		t.Error("it answers without the password that it was told to ask for")
	}
}

func client(t *testing.T, s *Server) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(s.Address())
	if err != nil {
		t.Fatal(err)
	}
	o.MaxRetries, o.DialerRetries = -1, 1
	rdb := redis.NewClient(o)
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}
