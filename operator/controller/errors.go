package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The kind of an error decides what the status says and when the controller looks at the resource again:
//
//	*stalledError   A person has to act. The status says so. What the person changes wakes the controller.
//	*waitingError   Nothing is wrong, and it isn't time yet. The controller looks again after the error's own time.
//	*refusedError   The API server said no. The status says so, and the controller tries again with growing pauses: quotas and policies change.
//	any other       The API server is away, or the like. That says nothing of the resource, so its status stays as it is. The controller
//	                tries again with growing pauses.

// stalledError is a fault that a person has to remove.
type stalledError struct {
	reason  string // of the condition
	message string // what is wrong, and what to do
}

func (e *stalledError) Error() string { return e.message }

// waitingError is why a step is put off, and for how long.
type waitingError struct {
	message string
	after   time.Duration
}

func (e *waitingError) Error() string { return e.message }

// refusedError is the API server's refusal of a request.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }

// requestError says what was tried with an object that the API server gave an error for. It tells a refusal from an API server that is away,
// overloaded or slow.
func requestError(what string, err error) error {
	said := fmt.Errorf("%s: %w", what, err)
	var status apierrors.APIStatus
	if !errors.As(err, &status) || apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServerTimeout(err) {
		return said
	}
	return &refusedError{said}
}

// stepErrors are all that went wrong in the steps of a reconcile, in one line: conditions are read in tables.
type stepErrors []error

func (e stepErrors) Error() string {
	texts := make([]string, len(e))
	for i, err := range e {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (e stepErrors) Unwrap() []error { return e }

// add gives the errors with one more, unless it is nil. What is several errors is added one by one.
func (e stepErrors) add(err error) stepErrors {
	if several, ok := errors.AsType[stepErrors](err); ok {
		return append(e, several...)
	}
	if err != nil {
		return append(e, err)
	}
	return e
}

// saysNothing reports whether one of the errors is of the kind that says nothing of the resource.
func (e stepErrors) saysNothing() bool {
	return slices.ContainsFunc(e, func(err error) bool {
		return !isA[*stalledError](err) && !isA[*waitingError](err) && !isA[*refusedError](err)
	})
}

// faults are the errors without those that only wait.
func (e stepErrors) faults() (out stepErrors) {
	for _, err := range e {
		if !isA[*waitingError](err) {
			out = append(out, err)
		}
	}
	return out
}

// result is what the errors ask of controller-runtime. after is when the controller looks again in any case; 0 is never.
func (e stepErrors) result(after time.Duration) (reconcile.Result, error) {
	var retried stepErrors
	for _, err := range e {
		if w, ok := errors.AsType[*waitingError](err); ok {
			after = sooner(after, w.after)
		} else if !isA[*stalledError](err) {
			retried = append(retried, err)
		}
	}
	if retried != nil {
		return reconcile.Result{}, retried
	}
	return reconcile.Result{RequeueAfter: after}, nil
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// sooner is the shorter of two times to wait; 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
