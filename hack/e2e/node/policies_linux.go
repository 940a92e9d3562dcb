package node

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/e2e/node/policy"
)

// policyPause is the time between two looks at pods and NetworkPolicies.
const policyPause = 300 * time.Millisecond

// policies has NetworkPolicies hold from now on, which the plug-ins in use leave to others.
func (n *Node) policies(ctx context.Context) error {
	rules, err := n.policyRules(ctx)
	if err == nil {
		err = n.nft(rules)
	}
	if err != nil {
		return err
	}
	n.background.Go(func() {
		// The node's own lifetime, not its start's.
		n.followPolicies(context.WithoutCancel(ctx), rules)
	})
	return nil
}

func (n *Node) followPolicies(ctx context.Context, held string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		<-n.sandbox.ended
		cancel()
	}()
	tick := time.NewTicker(policyPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		rules, err := n.policyRules(ctx)
		if err == nil && rules != held {
			err = n.nft(rules)
		}
		if err == nil {
			held = rules
		} else if ctx.Err() == nil {
			n.note("policies", err)
		}
	}
}

// note writes to a log of the node's.
func (n *Node) note(name string, err error) {
	file, openErr := os.OpenFile(filepath.Join(n.dir, "log", name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if openErr != nil {
		return // the node is being taken down
	}
	_, _ = fmt.Fprintln(file, time.Now().Format(time.RFC3339), err)
	_ = file.Close()
}

func (n *Node) policyRules(ctx context.Context) (string, error) {
	var c policy.Cluster
	for path, into := range map[string]any{
		"/api/v1/pods": &c.Pods, "/api/v1/namespaces": &c.Namespaces, "/apis/networking.k8s.io/v1/networkpolicies": &c.Policies,
	} {
		body, err := n.read(ctx, path)
		if err != nil {
			return "", err
		}
		list := struct{ Items any }{into}
		if err := json.Unmarshal(body, &list); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
	}
	return policy.Rules(c)
}

// nft gives rules to the kernel, all at once or not at all.
func (n *Node) nft(rules string) error {
	command := n.program(n.tools["nft"], "-f", "-")
	command.Stdin = strings.NewReader(rules)
	_, err := n.sandbox.run(command)
	return err
}
