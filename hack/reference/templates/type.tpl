{{- define "type" -}}
{{- $type := . -}}
{{- if markdownShouldRenderType $type -}}
## {{ $type.Name }}

{{ $type.Doc | replace "\n" " " }}
{{- if $type.References }}

Used in {{ range $i, $t := $type.SortedReferences }}{{ if $i }}, {{ end }}{{ markdownRenderTypeLink $t }}{{ end }}.
{{- end }}
{{- if $type.Members }}

| Field | | |
| --- | --- | --- |
{{- range $type.Members }}
{{- $optional := false }}
{{- range .Validation }}{{ if hasPrefix "Optional" . }}{{ $optional = true }}{{ end }}{{ end }}
{{- if not (or (eq .Name "kind") (eq .Name "apiVersion") (eq .Name "metadata") (eq .Name "spec") (eq .Name "status")) }}
| `{{ .Name }}` {{ markdownRenderType .Type }} | {{ if not $optional }}required{{ end }} | {{ .Doc | replace "\n" " " | replace "|" "\\|" }} |
{{- else if or (eq .Name "spec") (eq .Name "status") }}
| `{{ .Name }}` {{ markdownRenderType .Type }} | | |
{{- end }}
{{- end }}
{{- end }}
{{ end -}}
{{- end -}}
