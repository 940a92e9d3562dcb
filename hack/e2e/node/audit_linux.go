package node

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// auditPolicy has the API server write down what programs in pods ask for. The cluster's own controllers are left out.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, userGroups: ["system:serviceaccounts:kube-system"]}
- {level: Metadata, userGroups: ["system:serviceaccounts"]}
- {level: None}
`

func (n *Node) auditLog() string { return filepath.Join(n.dir, "log", "audit.log") }

// Denied says what the service accounts of a namespace asked the API server for without having the right to, each once: as in
// "boardwalk-operator: list secrets".
func (n *Node) Denied(namespace string) ([]string, error) {
	file, err := os.Open(n.auditLog())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var denied []string
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			slices.Sort(denied)
			return slices.Compact(denied), nil // a last line without an end is being written
		}
		if err != nil {
			return nil, err
		}
		if request, err := denial(line, namespace); err != nil {
			return nil, err
		} else if request != "" {
			denied = append(denied, request)
		}
	}
}

// denial reads a line of the log; empty for a request that was let through, or that is somebody else's.
func denial(line []byte, namespace string) (string, error) {
	var event struct {
		Verb           string
		User           struct{ Username string }
		ObjectRef      struct{ Resource, Subresource, APIGroup string }
		RequestURI     string
		ResponseStatus struct{ Code int }
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return "", fmt.Errorf("the API server's audit log: %w", err)
	}
	account, found := strings.CutPrefix(event.User.Username, "system:serviceaccount:"+namespace+":")
	if !found || event.ResponseStatus.Code != http.StatusForbidden {
		return "", nil
	}
	what := event.RequestURI
	if r := event.ObjectRef; r.Resource != "" {
		what = r.Resource
		if r.Subresource != "" {
			what += "/" + r.Subresource
		}
		if r.APIGroup != "" {
			what += " of " + r.APIGroup
		}
	}
	return account + ": " + event.Verb + " " + what, nil
}
