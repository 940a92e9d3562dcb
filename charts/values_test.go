package charts_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// TestMistakesAreRefused: a mistake in the values is told with the value's name and what to write instead, before anything
// reaches a cluster, and no password is repeated.
func TestMistakesAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ values, want string }{
		"misspelt":              {`replica: 2`, `additional properties 'replica' not allowed`},
		"misspelt below":        {`apiserver: {replica: 2}`, `at '/apiserver': additional properties 'replica' not allowed`},
		"misspelt in a Secret":  {`database: {existingSecret: {nam: x}}`, `at '/database/existingSecret': additional properties 'nam' not allowed`},
		"misspelt resources":    {`apiserver: {resources: {limit: {cpu: 1}}}`, `at '/apiserver/resources': additional properties 'limit' not allowed`},
		"text for a number":     {`apiserver: {replicas: two}`, `at '/apiserver/replicas': got string, want null or integer`},
		"number for a text":     {`image: {tag: 1.10}`, `at '/image/tag': got number, want string`},
		"text for a switch":     {`apiserver: {accessLog: "yes"}`, `at '/apiserver/accessLog': got string, want boolean`},
		"bad digest":            {`image: {digest: abc}`, `at '/image/digest': 'abc' does not match pattern '^(sha256:[0-9a-f]{64})?$'`},
		"tag in the repository": {`image: {repository: "registry.example.com/boardwalk:v1"}`, `at '/image/repository'`},
		"unknown pull policy":   {`image: {pullPolicy: Sometimes}`, `at '/image/pullPolicy': value must be one of 'Always', 'IfNotPresent', 'Never'`},
		"pull secret as text":   {`imagePullSecrets: [registry]`, `at '/imagePullSecrets/0': got string, want object`},
		"root":                  {`runAsUser: 0`, `at '/runAsUser': minimum: got 0, want 1`},
		"upper case":            {`fullnameOverride: Markets`, `at '/fullnameOverride': 'Markets' does not match pattern`},
		"too long":              {`fullnameOverride: a-name-of-more-than-thirty-six-letters`, `at '/fullnameOverride': maxLength: got 38, want 36`},

		"no database": {`database: {evaluation: {enabled: false}}`, `write the name of a Secret with a postgresql://… address into database.existingSecret.name`},
		"two databases": {
			`database: {existingSecret: {name: db}}`,
			`To use the Secret "db", write database.evaluation.enabled: false`,
		},
		"reader without a role": {
			`database: {evaluation: {enabled: false}, existingSecret: {name: db}, reader: {existingSecret: {name: ro}}}`,
			`database.reader: one half is missing. Write existingSecret.name`,
		},
		"reader of the small one": {
			`database: {reader: {existingSecret: {name: ro}, role: reader}}`,
			`database.reader: the evaluation database has one role alone`,
		},
		"role that is SQL": {`database: {reader: {role: "x; DROP"}}`, `at '/database/reader/role': 'x; DROP' does not match pattern`},
		"short password":   {`database: {evaluation: {password: hunter2}}`, `database.evaluation.password: write 16 to 64 letters and digits`},
		"bad size":         {`database: {evaluation: {persistence: {size: 10 GB}}}`, `at '/database/evaluation/persistence/size'`},
		"bad retention":    {`database: {evaluation: {persistence: {whenDeleted: Keep}}}`, `value must be one of 'Retain', 'Delete'`},
		"two Redis": {
			`redis: {url: "redis://a.example.com", existingSecret: {name: redis}}`,
			`redis: two addresses are named. Keep redis.existingSecret.name`,
		},
		"Redis password":   {`redis: {url: "redis://:hunter2@redis.example.com:6379"}`, `write its name into redis.existingSecret.name`},
		"other than Redis": {`redis: {url: redis.example.com}`, `at '/redis/url': 'redis.example.com' does not match pattern '^(rediss?://`},

		"no tab":                {`renderer: {tabs: 0}`, `at '/renderer/tabs': minimum: got 0, want 1`},
		"tag of the renderer":   {`renderer: {image: {repository: "cards:v1"}}`, `at '/renderer/image/repository': 'cards:v1' does not match pattern`},
		"profile elsewhere":     {`renderer: {seccompProfile: ../profile.json}`, `at '/renderer/seccompProfile': '../profile.json' does not match pattern`},
		"browser above a limit": {`renderer: {maxBrowserMemoryMiB: 900}`, `write at most that less 256 = 768`},
		"database for cards": {
			`renderer: {extraEnv: [{name: BOARDWALK_DB, value: "postgres://u:hunter2@h/d"}]}`,
			`renderer.extraEnv: BOARDWALK_DB comes from a Secret`,
		},

		"database of indexers": {`indexers: {extraEnv: [{name: BOARDWALK_DB, value: x}]}`, `indexers.extraEnv: BOARDWALK_DB is Boardwalk's own`},
		"variable twice":       {`indexers: {extraEnv: [{name: A, value: x}, {name: A, value: z}]}`, `indexers.extraEnv: A is there twice`},
		"volume of indexers":   {`indexers: {extraVolumes: [{name: rpc-0, emptyDir: {}}]}`, `indexers.extraVolumes: rpc-0 is there already`},
		"mount of nothing":     {`indexers: {extraVolumeMounts: [{name: a, mountPath: /a}]}`, `there is no volume a; add it to indexers.extraVolumes`},
		"mount of indexers": {
			`indexers: {extraVolumes: [{name: a, emptyDir: {}}], extraVolumeMounts: [{name: a, mountPath: /etc/boardwalk/chain}]}`,
			`/etc/boardwalk/chain is the indexers' own; choose another folder`,
		},
		"annotation of indexers": {`indexers: {podAnnotations: {boardwalk.dev/document: x}}`, `indexers.podAnnotations: boardwalk.dev/document is Boardwalk's own`},
		"bundle as a variable":   {`apiserver: {extraEnv: [{name: BOARDWALK_CA_FILE, value: /a}]}`, `apiserver.extraEnv: BOARDWALK_CA_FILE is the chart's own; write`},
		"two bundles":            {`caBundle: {configMap: a, secret: b}`, `caBundle: two places are named`},

		"no host":        {`ingress: {enabled: true}`, `Write ingress.hosts: [api.example.com]`},
		"address a host": {`ingress: {hosts: ["https://api.example.com"]}`, `at '/ingress/hosts/0': 'https://api.example.com' does not match pattern`},
		"host as base":   {`apiserver: {baseUrl: api.example.com}`, `at '/apiserver/baseUrl': 'api.example.com' does not match pattern '^(https?://`},
		"named range":    {`indexers: {denyAddresses: [inside.example.com]}`, `at '/indexers/denyAddresses/0': 'inside.example.com' does not match pattern`},
		"named proxy":    {`apiserver: {trustedProxies: [proxy.example.com]}`, `at '/apiserver/trustedProxies/0': 'proxy.example.com' does not match pattern`},
		"negative":       {`apiserver: {maxInFlight: -1}`, `at '/apiserver/maxInFlight': minimum: got -1, want 0`},
		"unknown level":  {`operator: {logLevel: verbose}`, `at '/operator/logLevel': value must be one of 'debug', 'info', 'warn', 'error'`},
		"unknown type":   {`apiserver: {service: {type: ExternalName}}`, `value must be one of 'ClusterIP', 'NodePort', 'LoadBalancer'`},
		"policy without a way in": {
			`apiserver: {service: {externalTrafficPolicy: Local}}`,
			`externalTrafficPolicy is for the types NodePort and LoadBalancer alone; leave it out`,
		},
		"port of a node": {`apiserver: {service: {nodePort: 30080}}`, `apiserver.service: nodePort is for the types NodePort and LoadBalancer alone`},
		"class without a balancer": {
			`apiserver: {service: {type: NodePort, loadBalancerClass: a}}`, `apiserver.service: loadBalancerClass is for the type LoadBalancer alone; leave it out`,
		},
		"ranges without a balancer": {
			`apiserver: {service: {loadBalancerSourceRanges: [192.0.2.0/24]}}`, `loadBalancerSourceRanges is for the type LoadBalancer alone; leave it out`,
		},
		"unknown family":    {`apiserver: {service: {ipFamilies: [IPv5]}}`, `at '/apiserver/service/ipFamilies/0': value must be one of 'IPv4', 'IPv6'`},
		"no Gateway":        {`apiserver: {httpRoute: {enabled: true}}`, `apiserver.httpRoute: no Gateway. Write parentRefs`},
		"Gateway as a text": {`apiserver: {httpRoute: {parentRefs: [public]}}`, `at '/apiserver/httpRoute/parentRefs/0': got string, want object`},
		"relative path":     {`ingress: {paths: [{path: api, pathType: Prefix}]}`, `at '/ingress/paths/0/path': 'api' does not match pattern`},
		"no path":           {`ingress: {paths: []}`, `at '/ingress/paths': minItems: got 0, want 1`},

		"registry with a scheme": {`global: {imageRegistry: "https://registry.example.com"}`, `at '/global/imageRegistry'`},
		"the chart's selector":   {`commonLabels: {app.kubernetes.io/name: x}`, `commonLabels: app.kubernetes.io/name is the chart's own or Helm's`},
		"Helm's annotation":      {`commonAnnotations: {helm.sh/hook: pre-install}`, `commonAnnotations: helm.sh/hook is the chart's own or Helm's`},
		"object of no kind":      {`extraObjects: [{metadata: {name: a}}]`, `at '/extraObjects/0'`},
		"volume of the chart":    {`apiserver: {extraVolumes: [{name: kube-api-access, emptyDir: {}}]}`, `apiserver.extraVolumes: kube-api-access is there already`},
		"volume twice":           {`operator: {extraVolumes: [{name: a, emptyDir: {}}, {name: a, emptyDir: {}}]}`, `operator.extraVolumes: a is there already`},
		"mount without a volume": {`members: {extraVolumeMounts: [{name: a, mountPath: /a}]}`, `members.extraVolumeMounts: there is no volume a; add it to members.extraVolumes`},
		"fonts of nowhere":       {`renderer: {extraVolumeMounts: [{name: a, mountPath: /a}]}`, `renderer.extraVolumeMounts: there is no volume a; add it to apiserver.extraVolumes`},
		"mount over the chart's": {
			`operator: {extraVolumes: [{name: a, emptyDir: {}}], extraVolumeMounts: [{name: a, mountPath: /etc/boardwalk/indexers}]}`,
			`operator.extraVolumeMounts: /etc/boardwalk/indexers is the chart's own; choose another folder`,
		},
		"container of the chart":    {`apiserver: {extraContainers: [{name: renderer, image: a}]}`, `apiserver.extraContainers: renderer is the chart's own`},
		"container without a image": {`apiserver: {extraContainers: [{name: a}]}`, `at '/apiserver/extraContainers/0': missing property 'image'`},
		"two strategies":            {`members: {strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}}`, `members.strategy: rollingUpdate is for the type RollingUpdate alone`},
		"unknown strategy":          {`apiserver: {strategy: {type: Canary}}`, `at '/apiserver/strategy/type': value must be one of 'RollingUpdate', 'Recreate'`},
		"nobody's account":          {`operator: {serviceAccount: {create: false}}`, `operator.serviceAccount: with create: false, write name`},
		"one account for both": {
			`{operator: {serviceAccount: {name: a}}, apiserver: {serviceAccount: {name: a}}}`, `both are "a", which would give the API server`,
		},
		"unknown relabelling": {`metrics: {serviceMonitor: {relabelings: [{target: a}]}}`, `at '/metrics/serviceMonitor/relabelings/0': additional properties 'target' not allowed`},
		"unknown metric":      {`apiserver: {autoscaling: {metrics: [{type: Load}]}}`, `at '/apiserver/autoscaling/metrics/0/type': value must be one of`},

		"turned round":            {`apiserver: {autoscaling: {enabled: true, minReplicas: 9}}`, `minReplicas 9 is above maxReplicas 6`},
		"no target":               {`apiserver: {autoscaling: {enabled: true, targetCPU: null}}`, `Write targetCPU or targetMemory`},
		"no time":                 {`apiserver: {drainSeconds: 50}`, `write at least drainSeconds + 10 = 60`},
		"nothing may go":          {`operator: {podDisruptionBudget: {maxUnavailable: 0}}`, `at '/operator/podDisruptionBudget/maxUnavailable': minimum: got 0, want 1`},
		"argument without a flag": {`operator: {extraArgs: [pprof]}`, `at '/operator/extraArgs/0': 'pprof' does not match pattern '^--[a-z]'`},
		"database as a flag": {
			`apiserver: {extraArgs: ["--db=postgres://u:hunter2@h/d"]}`,
			`apiserver.extraArgs: an address with a password would show in the list of processes; write database.existingSecret.name`,
		},
		"database as a variable": {
			`apiserver: {extraEnv: [{name: BOARDWALK_DB, value: "postgres://u:hunter2@h/d"}]}`,
			`apiserver.extraEnv: BOARDWALK_DB comes from a Secret; write database.existingSecret.name`,
		},
		"the chart's label":  {`operator: {podLabels: {app.kubernetes.io/name: x}}`, `operator.podLabels: app.kubernetes.io/name is the chart's own`},
		"the chart's folder": {`apiserver: {secretMounts: [{name: a, mountPath: /etc/boardwalk/site}]}`, `/etc/boardwalk/site is the chart's own; choose another folder`},
		"the token's folder": {
			`apiserver: {secretMounts: [{name: a, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]}`,
			`is the chart's own; choose another folder`,
		},
		"own selector": {
			`apiserver: {topologySpread: [{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]}`,
			`at '/apiserver/topologySpread/0': additional properties 'labelSelector' not allowed`,
		},
		"day of the changelog": {`apiserver: {site: {changelog: [{id: a, at: March, label: x}]}}`, `at '/apiserver/site/changelog/0/at': 'March' does not match pattern`},
		"a part of the rules":  {`members: {game: {ranks: [{id: a, name: A, minXP: 0}]}}`, `missing properties 'xp', 'season', 'badges'`},
		"what a badge is for":  {`members: {game: {badges: [{id: a, name: A, for: luck, count: 1}]}}`, `at '/members/game/badges/0/for': value must be one of 'days', 'streak'`},
		"kind of a resource":   {`apiserver: {site: {resources: [{id: a, label: A, kind: forum, url: /}]}}`, `value must be one of 'docs', 'developers', 'blog', 'status', 'support'`},
		"address without a length": {
			`networkPolicy: {kubernetes: {cidrs: [10.0.0.1]}}`,
			`at '/networkPolicy/kubernetes/cidrs/0': '10.0.0.1' does not match pattern`,
		},
		"all ports by mistake": {`networkPolicy: {dns: {ports: null}}`, `networkPolicy.dns.ports: none is named, which a network policy takes for all`},
		"unknown peer":         {`networkPolicy: {from: [{podselector: {}}]}`, `at '/networkPolicy/from/0': additional properties 'podselector' not allowed`},
		"value of a label":     {`metrics: {dashboards: {labelValue: 1}}`, `at '/metrics/dashboards/labelValue': got number, want string`},
		"misspelt selector": {
			`metrics: {dashboards: {grafanaOperator: {instanceSelector: {matchLabel: {a: b}}}}}`,
			`at '/metrics/dashboards/grafanaOperator/instanceSelector': additional properties 'matchLabel' not allowed`,
		},
		"collected twice": {
			`metrics: {serviceMonitor: {enabled: true}, podMonitor: {enabled: true}}`,
			`metrics: serviceMonitor and podMonitor are both enabled, and every program's metrics would be collected twice; write enabled: false in one of them`,
		},
		"bare number of time": {`metrics: {serviceMonitor: {interval: 30}}`, `at '/metrics/serviceMonitor/interval': got number, want string`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := filepath.Join(t.TempDir(), "values.yaml")
			if err := os.WriteFile(values, []byte(c.values), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, helm := range helms {
				_, _, err := run(t.Context(), t, "", "", helm, "template", "boardwalk", chart, "-f", values)
				if err == nil {
					t.Errorf("%s renders it", helm)
					continue
				}
				if got := err.Error(); !strings.Contains(strings.ToLower(got), strings.ToLower(c.want)) || strings.Contains(got, "hunter2") {
					t.Errorf("%s says\n%s\nwanted %q, and no password", helm, got, c.want)
				}
			}
		})
	}
}

// TestValuesSchemaAndReadmeAgree: each has what the others have.
func TestValuesSchemaAndReadmeAgree(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var root schema
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatal(err)
	}
	raw, err = os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(raw, &values); err != nil {
		t.Fatal(err)
	}
	root.compare(t, root.Definitions, "", values)

	var readme []byte
	if readme, err = os.ReadFile(filepath.Join(chart, "README.md")); err != nil {
		t.Fatal(err)
	}
	for _, path := range regexp.MustCompile("`([a-z][A-Za-z]*(?:\\.[A-Za-z]+)+)`").FindAllStringSubmatch(string(readme), -1) {
		if file := filepath.Join(chart, path[1]); strings.HasPrefix(path[1], "values.") || exists(file) {
			continue
		}
		var v any = values
		for name := range strings.SplitSeq(path[1], ".") {
			m, _ := v.(map[string]any)
			var ok bool
			if v, ok = m[name]; !ok {
				t.Errorf("README.md tells of %s, which values.yaml doesn't have", path[1])
				break
			}
		}
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// schema is what a JSON schema says of the members of an object.
type schema struct {
	Ref         string            `json:"$ref"`
	Properties  map[string]schema `json:"properties"`
	Additional  any               `json:"additionalProperties"`
	Definitions map[string]schema `json:"definitions"`
}

// optional are values whose members aren't given in values.yaml: they are those of Kubernetes, or shown in docs/api.md and docs/game.md.
var optional = []string{
	".apiserver.site", ".members.game", ".apiserver.autoscaling.behavior",
	".operator.resources.requests", ".operator.resources.limits", ".apiserver.resources.requests", ".apiserver.resources.limits",
	".renderer.resources.requests", ".renderer.resources.limits", ".metrics.dashboards.grafanaOperator.instanceSelector",
	".operator.strategy", ".apiserver.strategy", ".members.strategy", ".apiserver.httpRoute.timeouts",
}

func (s schema) compare(t *testing.T, definitions map[string]schema, at string, value any) {
	t.Helper()
	if s.Ref != "" {
		s = definitions[strings.TrimPrefix(s.Ref, "#/definitions/")]
	}
	if len(s.Properties) == 0 || slices.Contains(optional, at) {
		return
	}
	if s.Additional != false && at != ".global" { // an umbrella chart's other charts have members of it too
		t.Errorf("values.schema.json lets %s have any member", at)
	}
	members, ok := value.(map[string]any)
	if !ok {
		t.Errorf("values.yaml has no %s", at)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if v, there := members[name]; there {
			s.Properties[name].compare(t, definitions, at+"."+name, v)
		} else {
			t.Errorf("values.yaml lacks %s.%s, which the schema allows", at, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if _, there := s.Properties[name]; !there {
			t.Errorf("values.schema.json lacks %s.%s, which values.yaml has", at, name)
		}
	}
}
