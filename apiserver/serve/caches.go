package serve

import (
	"net/http"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/caller"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// forCaches keeps from shared caches what is one client's. An answer to a key is private. Behind a shared cache RateLimit is
// left off what that may keep, or it would tell everyone where the client stood that asked first.
func (s *Server) forCaches(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keyed := r.Header.Get(caller.KeyHeader) != ""
		if !keyed && !s.BehindCache {
			next.ServeHTTP(w, r)
			return
		}
		c := &cacheWriter{ResponseWriter: w, keyed: keyed}
		next.ServeHTTP(c, r)
		c.settle() // an answer without a body may not have been written
	})
}

// cacheWriter changes the headers of an answer just before they are written.
type cacheWriter struct {
	http.ResponseWriter

	keyed, settled bool
}

func (c *cacheWriter) WriteHeader(status int) {
	c.settle()
	c.ResponseWriter.WriteHeader(status)
}

func (c *cacheWriter) Write(b []byte) (int, error) {
	c.settle()
	return c.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (c *cacheWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cacheWriter) settle() {
	if c.settled {
		return
	}
	c.settled = true
	h := c.Header()
	switch cache := h.Get("Cache-Control"); {
	case c.keyed && cache != "":
		h["Cache-Control"] = []string{contract.Private(cache)}
	case strings.HasPrefix(cache, "public"):
		delete(h, "Ratelimit")
	}
}
