{{- define "gvDetails" -}}
{{- $gv := . -}}
`apiVersion: {{ $gv.GroupVersionString }}`
{{ range $gv.SortedKinds }}
{{ template "type" $gv.TypeForKind . }}
{{- end }}
{{- range $gv.SortedTypes }}
{{- if not .GVK }}
{{ template "type" . }}
{{- end }}
{{- end }}
{{- end -}}
