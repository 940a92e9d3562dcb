package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// API asks the public API for a path. It is nil where the pods are asked instead.
type API func(ctx context.Context, path string) ([]byte, error)

// PublicAPI asks the API at a URL, such as https://api.example.com, as anybody would.
func PublicAPI(url string) API {
	c := &http.Client{Timeout: answerTime}
	return func(ctx context.Context, path string) ([]byte, error) {
		return get(ctx, c, strings.TrimSuffix(url, "/")+path)
	}
}

func (d *Doctor) lookAtAPI(ctx context.Context) error {
	ask := d.API
	if ask == nil {
		pod := d.readyAPIServer()
		if pod == "" {
			return nil
		}
		ask = func(ctx context.Context, path string) ([]byte, error) { return d.Cluster.Ask(ctx, pod, apiPort, path) }
	}
	beat, err := heartbeat(ctx, ask)
	if err != nil && d.Cluster == nil {
		return fmt.Errorf("ask the API: %w", err)
	}
	if err != nil {
		d.say(wrong, "", "the API doesn't answer: "+err.Error(), "")
	}
	served := map[string]bool{}
	for i := range beat.Chains {
		served[beat.Chains[i].ID] = true
		d.judgeLag(&beat.Chains[i])
	}
	if d.Chain != "" {
		d.report(d.Chain)
	}
	for _, p := range d.chains {
		if err == nil && !served[p.id] {
			d.say(wrong, p.id, "the API doesn't serve it", "")
		}
	}
	return nil
}

func heartbeat(ctx context.Context, ask API) (beat contract.Heartbeat, err error) {
	body, err := ask(ctx, "/api/status/heartbeat")
	if err == nil {
		err = json.Unmarshal(body, &beat)
	}
	return beat, err
}

// readyAPIServer is the name of a pod of the API that is ready.
func (d *Doctor) readyAPIServer() (name string) {
	ready := 0
	pods := d.pods[componentAPI]
	for i := range pods {
		if isReady(&pods[i]) {
			ready++
			name = pods[i].Name
		}
	}
	text := fmt.Sprintf("%d of %d API servers are ready", ready, len(pods))
	switch {
	case len(pods) == 0:
		d.say(wrong, "", "there is no API server in namespace "+d.Cluster.namespace, "look whether --namespace is right: helm list --all-namespaces")
	case ready == 0:
		d.say(wrong, "", text+": "+podTrouble(&pods[0]), "kubectl describe pod "+pods[0].Name+"; kubectl logs "+pods[0].Name)
	case ready < len(pods):
		d.say(look, "", text, "")
	default:
		d.say(fine, "", text, "")
	}
	return name
}

func (d *Doctor) judgeLag(c *contract.ChainHeartbeat) {
	if d.Chain != "" && c.ID != d.Chain {
		return
	}
	p := d.report(c.ID)
	if p.resource != nil && p.resource.Spec.Suspend {
		d.say(fine, c.ID, "suspended", "")
		return
	}
	switch {
	case c.HeadLagS == nil:
		p.isStale = true
		d.say(wrong, c.ID, fmt.Sprintf("how far the answers are behind isn't known (%s)", c.UnknownReasons["head_lag_s"]), "")
	case time.Duration(*c.HeadLagS*float64(time.Second)) > p.mayLag():
		p.isStale = true
		d.say(wrong, c.ID, fmt.Sprintf("answers are %.0f s behind the chain, which may be %s", *c.HeadLagS, p.mayLag()), "")
	default:
		d.say(fine, c.ID, fmt.Sprintf("answers are %.0f s behind the chain", *c.HeadLagS), "")
	}
}

// mayLag is how far the chain may be behind before it isn't ready.
func (p *report) mayLag() time.Duration {
	if p.resource == nil {
		return v1alpha1.DefaultMaxLag
	}
	return p.resource.MaxLag()
}

// report finds what is known about a chain, or begins it.
func (d *Doctor) report(id string) *report {
	for _, p := range d.chains {
		if p.id == id {
			return p
		}
	}
	p := &report{id: id}
	d.chains = append(d.chains, p)
	return p
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue && p.DeletionTimestamp == nil
		}
	}
	return false
}

// podTrouble says why a pod isn't ready, as far as the pod itself does.
func podTrouble(p *corev1.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return "no node takes the pod: " + c.Message
		}
	}
	for i := range p.Status.ContainerStatuses {
		s := &p.Status.ContainerStatuses[i]
		switch {
		case s.State.Waiting != nil && s.State.Waiting.Message != "":
			return s.State.Waiting.Reason + ": " + s.State.Waiting.Message
		case s.LastTerminationState.Terminated != nil && s.LastTerminationState.Terminated.Message != "":
			return "it ended: " + s.LastTerminationState.Terminated.Message
		case s.State.Waiting != nil:
			return s.State.Waiting.Reason
		}
	}
	return "the pod is " + string(p.Status.Phase)
}
