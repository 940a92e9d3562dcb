package apiserver

import (
	"net/http"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
)

// NewHandler is the public handler on readers that a test has made, without documentation.
func NewHandler(o *Options, readers read.Readers) (http.Handler, error) {
	h, _, err := newHandler(o, readers, nil)
	return h, err
}

// Operations are those that the server answers.
func Operations(o *Options) ([]contract.Operation, error) {
	s, err := newSubjects(o, read.Readers{}, read.Readers{}, &serve.Latencies{})
	if err != nil {
		return nil, err
	}
	return serve.Operations(s.routes)
}
