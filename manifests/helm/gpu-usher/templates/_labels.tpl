{{- define "gpu-usher.labels" -}}
app.kubernetes.io/name: gpu-usher
app.kubernetes.io/part-of: gpu-usher
{{- end }}
