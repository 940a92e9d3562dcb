package resolve

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
)

// The patterns of the CRD's schema.
var (
	quantityPattern   = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,9})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$`)
	labelKeyPattern   = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	labelValuePattern = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`)
)

const (
	maxLabelKey   = 317 // characters: a prefix of 253, the slash and a name of 63
	maxLabelValue = 63
)

var (
	operators = []string{"Equal", "Exists"}
	effects   = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}
	facts     = []string{string(v1alpha1.FactsKept), string(v1alpha1.FactsAsked)}
)

// checkIndexer checks what a cluster gives the indexer too, so that a manifest that is read from a file here isn't refused
// there.
func checkIndexer(r *report, x *v1alpha1.Indexer) {
	const path = "spec.indexer"
	if l := x.MaxLag; l != nil && (l.Duration < 15*time.Second || l.Duration > 24*time.Hour) {
		r.add(path+".maxLag", "is %s; allowed: 15s to 24h, such as 2m", l.Duration)
	}
	if x.Facts != "" {
		r.choice(path+".facts", string(x.Facts), facts)
	}
	checkAmounts(r, path+".resources", "cpu", x.Resources.Requests.CPU, x.Resources.Limits.CPU)
	checkAmounts(r, path+".resources", "memory", x.Resources.Requests.Memory, x.Resources.Limits.Memory)
	if n := len(x.NodeSelector); n > 16 {
		r.add(path+".nodeSelector", "has %d entries; allowed: up to 16", n)
	}
	for _, key := range slices.Sorted(maps.Keys(x.NodeSelector)) {
		if len(key) > maxLabelKey || !labelKeyPattern.MatchString(key) {
			r.add(path+".nodeSelector", "%.80q is no label's name; allowed: such as kubernetes.io/arch", key)
			continue
		}
		r.labelValue(fmt.Sprintf("%s.nodeSelector[%s]", path, key), x.NodeSelector[key])
	}
	r.length(path+".tolerations", len(x.Tolerations), 16)
	for i := range x.Tolerations {
		checkToleration(r, fmt.Sprintf("%s.tolerations[%d]", path, i), &x.Tolerations[i])
	}
	if x.PriorityClassName != "" {
		r.object(path+".priorityClassName", "a PriorityClass", x.PriorityClassName)
	}
}

func checkAmounts(r *report, path, of string, request, limit v1alpha1.Quantity) {
	asked, ok := r.quantity(path+".requests."+of, request)
	most, bounded := r.quantity(path+".limits."+of, limit)
	if ok && bounded && asked.Cmp(most) > 0 {
		r.add(path+".requests."+of, "is %s, which is above the limit of %s; lower it, or raise %s.limits.%s", request, limit, path, of)
	}
}

// quantity reports whether there is one.
func (r *report) quantity(path string, q v1alpha1.Quantity) (resource.Quantity, bool) {
	if q == "" {
		return resource.Quantity{}, false
	}
	v, err := resource.ParseQuantity(string(q))
	if err != nil || len(q) > 16 || !quantityPattern.MatchString(string(q)) {
		r.add(path, "%.80q is no amount; allowed: a number with or without a unit, such as 500m, 512Mi or \"1\"", q)
		return resource.Quantity{}, false
	}
	return v, true
}

func checkToleration(r *report, path string, t *v1alpha1.Toleration) {
	switch {
	case t.Key == "" && t.Operator != "Exists":
		r.add(path+".key", "is missing: name the taint's key, or write operator: Exists to tolerate every taint")
	case t.Key != "" && (len(t.Key) > maxLabelKey || !labelKeyPattern.MatchString(t.Key)):
		r.add(path+".key", "%.80q is no taint's key; allowed: such as example.com/dedicated", t.Key)
	}
	if t.Operator != "" {
		r.choice(path+".operator", t.Operator, operators)
	}
	if t.Operator == "Exists" && t.Value != "" {
		r.add(path+".value", "is for operator Equal alone; leave it out")
	}
	r.labelValue(path+".value", t.Value)
	if t.Effect != "" {
		r.choice(path+".effect", t.Effect, effects)
	}
}

func (r *report) labelValue(path string, v v1alpha1.LabelValue) {
	if len(v) > maxLabelValue || !labelValuePattern.MatchString(string(v)) {
		r.add(path, "%.80q is no label's value; allowed: up to %d of letters, digits, -, _ and ., a letter or digit at both ends", v, maxLabelValue)
	}
}
