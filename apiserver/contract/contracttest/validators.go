package contracttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
)

// documentedRequest returns the request under which the document lists the response.
func documentedRequest(req *http.Request, res *http.Response) (*http.Request, error) {
	switch {
	case req.Method == http.MethodOptions:
		return nil, errors.New("OPTIONS stands in no document")
	case req.Method == http.MethodGet, req.Method == http.MethodHead:
	case res.StatusCode != http.StatusMethodNotAllowed:
		return nil, fmt.Errorf("%s must be answered 405", req.Method)
	}
	// Scheme and host are the test server's; the document has neither.
	target := &url.URL{Path: req.URL.Path, RawPath: req.URL.RawPath, RawQuery: req.URL.RawQuery}
	asGet := &http.Request{Method: http.MethodGet, URL: target, Header: req.Header.Clone(), Body: http.NoBody}
	return asGet.WithContext(req.Context()), nil
}

type kinValidator struct{ doc *openapi3.T }

func newKin(source []byte) (*kinValidator, error) {
	doc, err := openapi3.NewLoader().LoadFromData(source)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	return &kinValidator{doc: doc}, nil
}

// ownEngine is what kin-openapi is told that the document is. For one of OpenAPI 3.1 it compiles the schema of every body
// and header anew, for the engine that the other validator has too, and in most cases asks its own after all.
var ownEngine = &openapi3.T{OpenAPI: "3.0.3"}

func (v *kinValidator) verify(found *routers.Route, req *http.Request, r *reply) error {
	route := *found
	route.Spec = ownEngine
	return openapi3filter.ValidateResponse(req.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, Route: &route},
		Status:                 r.status,
		Header:                 r.plainHeader(),
		Body:                   io.NopCloser(bytes.NewReader(r.body)),
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true,
			ExcludeResponseBody:   r.bodiless,
			MultiError:            true,
		},
	})
}

type pb33fValidator struct {
	whole    validator.Validator
	bodiless validator.Validator
}

func newPB33F(source []byte) (*pb33fValidator, error) {
	doc, err := libopenapi.NewDocument(source)
	if err != nil {
		return nil, err
	}
	whole, errs := validator.NewValidator(doc, config.WithFormatAssertions())
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if ok, findings := whole.ValidateDocument(); !ok {
		return nil, joinFindings(findings)
	}
	bodiless, errs := validator.NewValidator(doc, config.WithoutResponseBodyValidation())
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return &pb33fValidator{whole: whole, bodiless: bodiless}, nil
}

func (v *pb33fValidator) verify(req *http.Request, r *reply) error {
	check := v.whole
	if r.bodiless {
		check = v.bodiless
	}
	res := http.Response{StatusCode: r.status, Header: r.plainHeader(), Body: io.NopCloser(bytes.NewReader(r.body))}
	if ok, findings := check.ValidateHttpResponse(req, &res); !ok {
		return joinFindings(findings)
	}
	return nil
}

// plain is a request to the operation that has nothing odd in its path: libopenapi-validator looks the path up by
// itself, and the kit has decided already which one it is.
func (k *Kit) plain(route *routers.Route) *http.Request {
	path, _, _ := strings.Cut(target(route.Path, parameters(route.PathItem, route.Operation), nil, nil), "?")
	return &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}, Header: http.Header{}, Body: http.NoBody}
}
