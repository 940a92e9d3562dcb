{{/* The beginning of every name. 36 characters leave room for what the cluster itself appends. */}}
{{- define "boardwalk.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains "boardwalk" .Release.Name -}}
{{- .Release.Name | trunc 36 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-boardwalk" (.Release.Name | trunc 26 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{/* What selects a component's pods: (dict "root" $ "component" "operator"). The operator makes the indexers' network
policies let in pods of this name and component, so neither can be set. */}}
{{- define "boardwalk.selector" -}}
app.kubernetes.io/name: boardwalk
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Pods don't carry the chart's version: it would start them anew without a reason. */}}
{{- define "boardwalk.podLabels" -}}
{{ include "boardwalk.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
{{- with merge (dict) (.values.podLabels | default dict) .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "boardwalk.labels" -}}
{{ include "boardwalk.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with merge (dict) (.labels | default dict) .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* An object's labels and annotations: (dict "root" $ "component" "operator"), and "labels" and "annotations" where it has some of its own,
which come before those of commonLabels and commonAnnotations. */}}
{{- define "boardwalk.metadata" -}}
labels:
  {{- include "boardwalk.labels" . | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The name of a component's ServiceAccount: (dict "root" $ "component" "operator"). */}}
{{- define "boardwalk.serviceAccount" -}}
{{- (index .root.Values .component).serviceAccount.name | default (printf "%s-%s" (include "boardwalk.fullname" .root) .component) -}}
{{- end -}}

{{- define "boardwalk.image" -}}
{{- include "boardwalk.imageOf" (dict "root" $ "image" .Values.image "default" .Chart.AppVersion) -}}
{{- end -}}

{{- define "boardwalk.rendererImage" -}}
{{- $image := .Values.renderer.image -}}
{{- $repository := $image.repository | default (printf "%s-renderer" .Values.image.repository) -}}
{{- include "boardwalk.imageOf" (dict "root" $
    "image" (dict "repository" $repository "tag" $image.tag "digest" $image.digest)
    "default" (.Values.image.tag | default .Chart.AppVersion)) -}}
{{- end -}}

{{/* (dict "root" $ "image" (repository, tag and digest) "default" "the tag where neither tag nor digest is named") */}}
{{- define "boardwalk.imageOf" -}}
{{- $tag := ternary "" (printf ":%s" (.image.tag | default .default)) (and (ne .image.digest "") (eq .image.tag "")) -}}
{{- $digest := ternary "" (printf "@%s" .image.digest) (eq .image.digest "") -}}
{{- include "boardwalk.registry" (dict "root" .root "image" (printf "%s%s%s" .image.repository $tag $digest)) -}}
{{- end -}}

{{/* An image with global.imageRegistry in place of its own registry: (dict "root" $ "image" …). As for container runtimes, what is before the
first slash is a registry where it has a dot or a colon, or is localhost. */}}
{{- define "boardwalk.registry" -}}
{{- $image := .image -}}
{{- with .root.Values.global.imageRegistry -}}
{{- $image = printf "%s/%s" . (regexReplaceAll "^([^/]*[.:][^/]*|localhost)/" $image "") -}}
{{- end -}}
{{- $image -}}
{{- end -}}

{{/* The Secrets of imagePullSecrets and then global.imagePullSecrets, each once, as a list in YAML; nothing without any. An umbrella chart may
name them as texts. */}}
{{- define "boardwalk.pullSecrets" -}}
{{- $secrets := list -}}
{{- range concat (.Values.imagePullSecrets | default list) (.Values.global.imagePullSecrets | default list) -}}
{{- $secret := ternary . (dict "name" .) (kindIs "map" .) -}}
{{- if not (has $secret $secrets) -}}{{- $secrets = append $secrets $secret -}}{{- end -}}
{{- end -}}
{{- with $secrets -}}{{- toYaml . -}}{{- end -}}
{{- end -}}

{{/* The Secret that holds the database's address, and its key. */}}
{{- define "boardwalk.databaseSecret" -}}
{{- if .Values.database.evaluation.enabled -}}
{{ include "boardwalk.fullname" . }}-evaluation-db
{{- else -}}
{{ .Values.database.existingSecret.name }}
{{- end -}}
{{- end -}}
{{- define "boardwalk.databaseSecretKey" -}}
{{ ternary "uri" .Values.database.existingSecret.key .Values.database.evaluation.enabled }}
{{- end -}}

{{/* The Secret and key with the address that the API servers have: the reader's, or the owner's. */}}
{{- define "boardwalk.readerSecret" -}}
{{ .Values.database.reader.existingSecret.name | default (include "boardwalk.databaseSecret" .) }}
{{- end -}}
{{- define "boardwalk.readerSecretKey" -}}
{{- if .Values.database.reader.existingSecret.name -}}
{{ .Values.database.reader.existingSecret.key }}
{{- else -}}
{{ include "boardwalk.databaseSecretKey" . }}
{{- end -}}
{{- end -}}

{{/* The Secret and key with the address that the members program has: its own, or the owner's. */}}
{{- define "boardwalk.membersSecret" -}}
{{ .Values.database.members.existingSecret.name | default (include "boardwalk.databaseSecret" .) }}
{{- end -}}
{{- define "boardwalk.membersSecretKey" -}}
{{ ternary .Values.database.members.existingSecret.key (include "boardwalk.databaseSecretKey" .) (ne .Values.database.members.existingSecret.name "") }}
{{- end -}}

{{/* The database's address of a program: (dict "name" "the Secret" "key" "its key"). It is read at the start from the environment. User and password
of later connections are those that the file has by then, so that a password can be changed while programs run. */}}
{{- define "boardwalk.databaseEnv" -}}
- name: BOARDWALK_DB
  valueFrom:
    secretKeyRef: {name: {{ .name | quote }}, key: {{ .key | quote }}}
- name: BOARDWALK_DB_FILE
  value: /etc/boardwalk/database/uri
{{- end -}}
{{- define "boardwalk.databaseMount" -}}
- {name: database, mountPath: /etc/boardwalk/database, readOnly: true}
{{- end -}}
{{- define "boardwalk.databaseVolume" -}}
- name: database
  secret:
    secretName: {{ .name | quote }}
    optional: true
    items:
    - {key: {{ .key | quote }}, path: uri}
{{- end -}}

{{/* The Job that makes the schema: (dict "root" $ "component" …). Its name has a hash of this. */}}
{{- define "boardwalk.migrationSpec" -}}
backoffLimit: 10
template:
  metadata:
    labels:
      {{- include "boardwalk.podLabels" .component | nindent 6 }}
  spec:
    restartPolicy: Never
    automountServiceAccountToken: false
    {{- include "boardwalk.pod" .component | nindent 4 }}
    containers:
    - name: migrate
      image: {{ include "boardwalk.image" .root | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args:
      - migrate
      - --log-json
      {{- with .root.Values.database.reader.role }}
      - {{ printf "--reader=%s" . | quote }}
      {{- end }}
      {{- with .root.Values.database.members.role }}
      - {{ printf "--members=%s" . | quote }}
      {{- end }}
      env:
      - name: BOARDWALK_DB
        valueFrom:
          secretKeyRef:
            name: {{ include "boardwalk.databaseSecret" .root | quote }}
            key: {{ include "boardwalk.databaseSecretKey" .root | quote }}
      {{- with include "boardwalk.caEnv" .root | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      resources:
        requests: {cpu: 50m, memory: 64Mi}
        limits: {memory: 256Mi}
      securityContext:
        {{- include "boardwalk.containerSecurityContext" .root | nindent 8 }}
      terminationMessagePolicy: FallbackToLogsOnError
      {{- with include "boardwalk.caMount" .root | trim }}
      volumeMounts:
      {{- . | nindent 6 }}
      {{- end }}
    {{- with include "boardwalk.caVolume" .root | trim }}
    volumes:
    {{- . | nindent 4 }}
    {{- end }}
{{- end -}}

{{- define "boardwalk.baseURL" -}}
{{- if .Values.apiserver.baseUrl -}}
{{ .Values.apiserver.baseUrl }}
{{- else if and .Values.ingress.enabled .Values.ingress.hosts -}}
{{ ternary "https" "http" (gt (len .Values.ingress.tls) 0) }}://{{ first .Values.ingress.hosts }}
{{- else -}}
http://localhost:8080
{{- end -}}
{{- end -}}

{{/* What holds for every pod: (dict "root" $ "component" … "values" .Values.operator "user" 65532). */}}
{{- define "boardwalk.pod" -}}
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  {{- with .user }}
  runAsUser: {{ . | int64 }}
  runAsGroup: {{ . | int64 }}
  fsGroup: {{ . | int64 }}
  fsGroupChangePolicy: OnRootMismatch
  {{- end }}
  seccompProfile:
    type: RuntimeDefault
{{- with include "boardwalk.pullSecrets" .root }}
imagePullSecrets:
  {{- . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.topologySpread }}
topologySpreadConstraints:
  {{- range . }}
  - {{ toYaml . | nindent 4 | trim }}
    labelSelector:
      matchLabels:
        {{- include "boardwalk.selector" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}
{{- end -}}

{{/* What holds for all indexers, as the operator's file. */}}
{{- define "boardwalk.indexers" -}}
{{- $out := dict
    "instance" .Release.Name
    "version" .Chart.AppVersion
    "logLevel" .Values.indexers.logLevel
    "rolloutPercent" (int64 .Values.indexers.rolloutPercent)
    "imagePullPolicy" .Values.image.pullPolicy
    "networkPolicy" .Values.networkPolicy.enabled -}}
{{- with .Values.database.maxConnections -}}{{- $_ := set $out "databaseConnections" (int64 .) -}}{{- end -}}
{{- with .Values.runAsUser -}}{{- $_ := set $out "runAsUser" (int64 .) -}}{{- end -}}
{{- with include "boardwalk.pullSecrets" . -}}{{- $_ := set $out "imagePullSecrets" (fromYamlArray .) -}}{{- end -}}
{{- if or .Values.caBundle.configMap .Values.caBundle.secret -}}
{{- $_ := set $out "caBundle" .Values.caBundle -}}
{{- end -}}
{{- range $field, $value := dict "env" "extraEnv" "envFrom" "extraEnvFrom" "volumes" "extraVolumes" "volumeMounts" "extraVolumeMounts" -}}
{{- with index $.Values.indexers $value -}}{{- $_ := set $out $field . -}}{{- end -}}
{{- end -}}
{{- with include "boardwalk.tracingEnv" (dict "root" $ "env" $.Values.indexers.extraEnv) -}}
{{- $_ := set $out "env" (concat ($out.env | default list) (fromYamlArray .)) -}}
{{- end -}}
{{- /* The operator takes no label app.kubernetes.io/… from its file. */ -}}
{{- $labels := merge (dict) .Values.indexers.podLabels -}}
{{- range $name, $value := .Values.commonLabels -}}
{{- if not (or (hasPrefix "app.kubernetes.io/" $name) (hasKey $labels $name)) -}}{{- $_ := set $labels $name $value -}}{{- end -}}
{{- end -}}
{{- with $labels -}}{{- $_ := set $out "podLabels" . -}}{{- end -}}
{{- range list "denyAddresses" "podAnnotations" "nodeSelector" "tolerations" "affinity" "topologySpread" "priorityClassName" -}}
{{- $field := . -}}
{{- with index $.Values.indexers $field -}}{{- $_ := set $out $field . -}}{{- end -}}
{{- end -}}
{{- $resources := dict -}}
{{- range $kind := list "requests" "limits" -}}
{{- with index ($.Values.indexers.resources | default dict) $kind -}}
{{- $amounts := dict -}}
{{- range $name, $amount := . -}}{{- $_ := set $amounts $name (toString $amount) -}}{{- end -}}
{{- $_ := set $resources $kind $amounts -}}
{{- end -}}
{{- end -}}
{{- with $resources -}}{{- $_ := set $out "resources" . -}}{{- end -}}
{{- toYaml $out -}}
{{- end -}}

{{/* The certificates of caBundle: a container's environment and mount, and a pod's volume, each as an element of a list; nothing without any. */}}
{{- define "boardwalk.caEnv" -}}
{{- if or .Values.caBundle.configMap .Values.caBundle.secret }}
- name: BOARDWALK_CA_FILE
  value: /etc/boardwalk/ca/ca.crt
{{- end }}
{{- end -}}
{{- define "boardwalk.caMount" -}}
{{- if or .Values.caBundle.configMap .Values.caBundle.secret }}
- {name: ca, mountPath: /etc/boardwalk/ca, readOnly: true}
{{- end }}
{{- end -}}
{{- define "boardwalk.caVolume" -}}
{{- with .Values.caBundle }}
{{- if or .configMap .secret }}
# Optional: without it the program says which file is missing, where a pod that doesn't start says nothing.
- name: ca
  {{- if .secret }}
  secret:
    secretName: {{ .secret | quote }}
  {{- else }}
  configMap:
    name: {{ .configMap | quote }}
  {{- end }}
    optional: true
    items:
    - {key: {{ .key | quote }}, path: ca.crt}
{{- end }}
{{- end }}
{{- end -}}

{{/* Where API server and renderer meet. */}}
{{- define "boardwalk.rendererFolder" -}}/run/boardwalk/renderer{{- end -}}

{{- define "boardwalk.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* A quantity of memory in MiB, or nothing if it isn't in whole Mi or Gi. */}}
{{- define "boardwalk.mebibytes" -}}
{{- $quantity := . | toString -}}
{{- if regexMatch "^[0-9]+[MG]i$" $quantity -}}
{{- mul (ternary 1024 1 (hasSuffix "Gi" $quantity)) (trimSuffix "Gi" $quantity | trimSuffix "Mi" | int) -}}
{{- end -}}
{{- end -}}

{{/* One egress rule: (dict "cidrs" … "ports" …); no CIDRs is everywhere. */}}
{{- define "boardwalk.egress" -}}
- ports:
  {{- range .ports }}
  - {protocol: TCP, port: {{ . | int64 }}}
  {{- end }}
  {{- with .cidrs }}
  to:
  {{- range . }}
  - ipBlock: {cidr: {{ . | quote }}}
  {{- end }}
  {{- end }}
{{- end -}}

{{/* Egress to who resolves names. */}}
{{- define "boardwalk.namesEgress" -}}
- ports:
  {{- range .Values.networkPolicy.dns.ports }}
  - {protocol: UDP, port: {{ . | int64 }}}
  - {protocol: TCP, port: {{ . | int64 }}}
  {{- end }}
{{- end -}}

{{/* Egress to the database. */}}
{{- define "boardwalk.databaseEgress" -}}
{{- if .Values.database.evaluation.enabled -}}
- to:
  - podSelector:
      matchLabels:
        {{- include "boardwalk.selector" (dict "root" $ "component" "evaluation-db") | nindent 8 }}
  ports:
  - {protocol: TCP, port: 5432}
{{- else -}}
{{ include "boardwalk.egress" .Values.networkPolicy.database }}
{{- end -}}
{{- end -}}

{{/* Egress that operator and API server share: names, the Kubernetes API, what was added by hand. */}}
{{- define "boardwalk.commonEgress" -}}
{{ include "boardwalk.namesEgress" . }}
{{ include "boardwalk.egress" .Values.networkPolicy.kubernetes }}
{{- with .Values.networkPolicy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Ingress of whoever collects metrics; the same rule as the indexers have. */}}
{{- define "boardwalk.scrapeIngress" -}}
- from:
  - namespaceSelector:
      matchLabels:
        boardwalk.dev/scrape: "true"
  ports:
  - {protocol: TCP, port: {{ . }}}
{{- end -}}

{{/* A container's environment: (dict "env" … "resources" …). The collector of Go's runtime is told to work harder before the
kernel ends the process at its limit. */}}
{{- define "boardwalk.goEnv" -}}
{{- $mib := include "boardwalk.mebibytes" (dig "limits" "memory" "" .resources) -}}
{{- $said := false -}}
{{- range .env -}}{{- if eq .name "GOMEMLIMIT" -}}{{- $said = true -}}{{- end -}}{{- end -}}
{{- if and $mib (not $said) }}
- name: GOMEMLIMIT
  value: {{ div (mul (int $mib) 9) 10 }}MiB
{{- end }}
{{- with .env }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The variables of tracing: (dict "root" $ "env" …). What env has by itself is left out. Each program sends its own traces. */}}
{{- define "boardwalk.tracingEnv" -}}
{{- with .root.Values.tracing -}}
{{- if .endpoint -}}
{{- $own := dict "OTEL_EXPORTER_OTLP_ENDPOINT" .endpoint "OTEL_EXPORTER_OTLP_PROTOCOL" .protocol "OTEL_TRACES_SAMPLER" .sampler "OTEL_TRACES_SAMPLER_ARG" (toString .samplerArg) -}}
{{- range $.env -}}{{- $own = omit $own .name -}}{{- end -}}
{{- range $name, $value := $own -}}
{{- if $value }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Egress to the collector of traces, wherever it is; nothing without one. */}}
{{- define "boardwalk.tracingEgress" -}}
{{- with (.Values.tracing | default dict).endpoint -}}
{{- $port := regexFind ":[0-9]+$" (urlParse .).host | trimPrefix ":" -}}
- ports:
  - {protocol: TCP, port: {{ $port | default (ternary "443" "80" (hasPrefix "https:" .)) }}}
{{- end -}}
{{- end -}}
