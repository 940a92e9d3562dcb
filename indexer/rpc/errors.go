package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// NodeError is an error that a node answered with.
type NodeError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *NodeError) Error() string { return fmt.Sprintf("node answered %d: %.200s", e.Code, e.Message) }

var wholeNumber = regexp.MustCompile(`\b\d+\b`)

// Numbers are the whole numbers in the node's words, in their order: a refusal may name what is allowed.
func (e *NodeError) Numbers() (list []int) {
	for _, digits := range wholeNumber.FindAllString(e.Message, -1) {
		if n, err := strconv.Atoi(digits); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// BatchError is an error that a node answered a whole batch with.
type BatchError struct{ *NodeError }

func (e BatchError) Unwrap() error { return e.NodeError }

// StatusError is an answer that is no JSON-RPC; Code is its HTTP status.
type StatusError struct{ Code int }

func (e StatusError) Error() string { return "node answered HTTP " + strconv.Itoa(e.Code) }

// ErrTooLong marks answers beyond what is read.
var ErrTooLong = errors.New("the node's answer is too long")

// ErrGarbage marks answers that no honest node gives.
var ErrGarbage = errors.New("the node's answer makes no sense")
