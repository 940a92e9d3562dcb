package controller

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// TestWhatWaitsForChainsReadsTheirStatus asks kstatus, which Flux, kpt and Helm's --wait are made with, and Argo CD's script, which is run as
// Argo CD runs it, about resources as the API server has them.
func TestWhatWaitsForChainsReadsTheirStatus(t *testing.T) {
	w := newWorld(t)
	unseen := w.chain("unseen", 7)
	w.judge(unseen, "InProgress", "Progressing")
	venue := w.venue("venue", []string{"ready"})
	w.judge(venue, "InProgress", "Progressing")

	w.indexers.says("ready")
	w.indexers.says("halted", inPhase(chainconfig.PhaseHalted, "reorg deeper than 64 blocks"))
	w.indexers.says("late", behindBy(1<<40))
	w.run()
	ready := w.chain("ready", 8)
	w.become(ready, "Ready True Ready")
	w.judge(ready, "Current", "Healthy")
	halted := w.chain("halted", 9)
	w.become(halted, "Ready False Halted", "Stalled True Halted reorg deeper")
	w.judge(halted, "Failed", "Degraded")
	late := w.chain("late", 10)
	w.become(late, "Ready False Behind")
	w.judge(late, "InProgress", "Progressing")
	second := w.chain("second", 8)
	w.become(second, "Ready False DuplicateChainID", "Stalled True DuplicateChainID")
	w.judge(second, "Failed", "Degraded")
	w.remove(ready)
	w.become(second, "Accepted True Accepted") // and then no condition Stalled is left, which kstatus would read as well
	eventually(t, func() error {
		if err := w.get(second); err != nil || strings.Contains(fmt.Sprint(second.Status.Conditions), v1alpha1.ConditionStalled) {
			return fmt.Errorf("%w: it is stalled still: %+v", err, second.Status.Conditions)
		}
		return nil
	})
	suspended := w.chain("suspended", 11, func(c *v1alpha1.Chain) { c.Spec.Suspend = true })
	w.become(suspended, "Ready True Suspended")
	w.judge(suspended, "Current", "Healthy")
	twin := w.venue("twin", []string{"late"}, func(v *v1alpha1.LaunchVenue) { v.Spec.ID = "venue" })
	w.become(twin, "Ready False DuplicateID", "Stalled True DuplicateID")
	w.judge(twin, "Failed", "Degraded")
}

// judge says how a resource is, by kstatus and by Argo CD.
func (w *world) judge(o client.Object, byKstatus, byArgo string) {
	w.t.Helper()
	if err := w.get(o); err != nil {
		w.t.Fatal(err)
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		w.t.Fatal(err)
	}
	result, err := kstatus.Compute(&unstructured.Unstructured{Object: fields})
	if err != nil || result.Status.String() != byKstatus {
		w.t.Errorf("kstatus says of %s: %+v, %v; want %s", o.GetName(), result, err, byKstatus)
	}
	kind := v1alpha1.ChainKind
	if _, is := o.(*v1alpha1.LaunchVenue); is {
		kind = v1alpha1.LaunchVenueKind
	}
	if got := argoHealth(w.t, kind, fields); got != byArgo {
		w.t.Errorf("Argo CD says of %s: %s; want %s", o.GetName(), got, byArgo)
	}
}

// argoHealth runs the script that config/gitops has for a kind.
func argoHealth(t *testing.T, kind string, object map[string]any) string {
	t.Helper()
	raw, err := os.ReadFile("../../config/gitops/argocd-cm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config corev1.ConfigMap
	if err := yaml.UnmarshalStrict(raw, &config); err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var decoded any
	if err := json.Unmarshal(plain, &decoded); err != nil {
		t.Fatal(err)
	}
	l := lua.NewState()
	defer l.Close()
	l.SetGlobal("obj", luaValue(l, decoded))
	if err := l.DoString(config.Data["resource.customizations.health.boardwalk.dev_"+kind]); err != nil {
		t.Fatal(err)
	}
	health, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the script of %s gives %s", kind, l.Get(-1))
	}
	return health.RawGetString("status").String()
}

func luaValue(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case string:
		return lua.LString(v)
	case float64:
		return lua.LNumber(v)
	case bool:
		return lua.LBool(v)
	case []any:
		out := l.NewTable()
		for _, x := range v {
			out.Append(luaValue(l, x))
		}
		return out
	case map[string]any:
		out := l.NewTable()
		for name, x := range v {
			out.RawSetString(name, luaValue(l, x))
		}
		return out
	}
	return lua.LNil
}
