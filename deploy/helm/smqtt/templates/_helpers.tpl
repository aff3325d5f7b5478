{{- define "smqtt.name" -}}
{{- if contains "smqtt" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-smqtt" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "smqtt.selector" -}}
app.kubernetes.io/name: smqtt
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "smqtt.frontSelector" -}}
app.kubernetes.io/name: smqtt-front
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
{{- if gt (int .Values.storage.replicas) 1 }}
{{- if gt (int .Values.storage.replicas) (int .Values.replicas) }}
{{- fail (printf "storage.replicas is %d, but there are only %d pods (replicas)" (int .Values.storage.replicas) (int .Values.replicas)) }}
{{- end }}
  nodes:
    {{- range $i := until (int .Values.replicas) }}
    - {{ include "smqtt.name" $ }}-{{ $i }}={{ include "smqtt.name" $ }}-{{ $i }}.{{ include "smqtt.name" $ }}-nodes.{{ $.Release.Namespace }}.svc.{{ $.Values.clusterDomain }}:7801
    {{- end }}
storage:
  replicas: {{ .Values.storage.replicas }}
{{- end }}
management:
  host: 0.0.0.0
  token-file: /run/secrets/smqtt/management-token
{{- end }}

{{- define "smqtt.scheme" -}}
{{- $management := get .Values.config "management" | default dict -}}
{{- if get $management "tls" -}}HTTPS{{- else -}}HTTP{{- end -}}
{{- end }}
