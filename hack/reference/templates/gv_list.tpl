{{- define "gvList" -}}
# Fields of the resources

<!-- Made by `go generate ./api/...` of the types in api/v1alpha1. -->

All fields of `Chain` and `LaunchVenue`, in the words of `kubectl explain`. [kubernetes.md](kubernetes.md) says how to use them, and `boardwalk samples`
prints examples. What may change in them is in [crd-versions.md](crd-versions.md).
A field with fields of its own links to their table. A `Duration` is a number with a unit, or several: `250ms`, `90s`, `720h`, `1h30m`.
{{ range . }}
{{ template "gvDetails" . }}
{{- end }}
{{- end -}}
