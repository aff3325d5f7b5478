{{- define "smqtt.name" -}}
{{- if contains "smqtt" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-smqtt" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "smqtt.selector" -}}
app.kubernetes.io/name: smqtt
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "smqtt.labels" -}}
{{ include "smqtt.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "smqtt.config" -}}
cluster:
  enabled: true
  discovery: dns
  seeds: ["{{ include "smqtt.name" . }}-nodes.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}"]
  min-members: {{ if gt (int .Values.replicas) 2 }}{{ .Values.minMembers }}{{ else }}0{{ end }}
management:
  host: 0.0.0.0
  token-file: /run/secrets/smqtt/management-token
{{- end }}

{{- define "smqtt.scheme" -}}
{{- $management := get .Values.config "management" | default dict -}}
{{- if get $management "tls" -}}HTTPS{{- else -}}HTTP{{- end -}}
{{- end }}
