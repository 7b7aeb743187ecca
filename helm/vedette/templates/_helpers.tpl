{{- define "vedette.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Names, keys and label values stand in quotes throughout: one may look like a number. */}}
{{- define "vedette.selectorLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "vedette.labels" -}}
{{ include "vedette.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "vedette.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{/* Every Deployment by its component's name, as JSON: the enabled roles, and the further workers, each of which is the
role worker with what differs: {{ range $name, $role := include "vedette.deployments" $ | fromJson }} */}}
{{- define "vedette.deployments" -}}
{{- $all := dict -}}
{{- range $name, $role := .Values.roles -}}
{{- if $role.enabled -}}
{{- $_ := set $all $name (merge (dict "roles" (prepend $role.also $name | uniq)) $role) -}}
{{- end -}}
{{- end -}}
{{- range $name, $worker := .Values.workers -}}
{{- $role := mergeOverwrite (deepCopy $.Values.roles.worker) $worker -}}
{{- $_ := set $all (printf "worker-%s" $name) (merge (dict "roles" (prepend $role.also "worker" | uniq)) $role) -}}
{{- end -}}
{{ toJson $all }}
{{- end -}}

{{/* Of a cluster under Patroni, without the password. */}}
{{- define "vedette.patroniUrl" -}}
{{- $hosts := list -}}
{{- range .hosts -}}
{{- $hosts = append $hosts (printf "%s:%d" . (int $.port)) -}}
{{- end -}}
{{- $parameters := list -}}
{{- if gt (len .hosts) 1 -}}
{{- $parameters = append $parameters "target_session_attrs=read-write" -}}
{{- end -}}
{{- with .sslmode -}}
{{- $parameters = append $parameters (printf "sslmode=%s" .) -}}
{{- end -}}
postgresql://{{ .user }}@{{ join "," $hosts }}/{{ .database }}{{ with $parameters }}?{{ join "&" . }}{{ end }}
{{- end -}}

{{- define "vedette.databaseEnv" -}}
{{- $patroni := .Values.database.patroni -}}
{{- if ne 1 (len (compact (list .Values.database.url .Values.database.existingSecret $patroni.hosts))) -}}
{{- fail "give exactly one of database.existingSecret, database.url (if it holds no password) and database.patroni.hosts" -}}
{{- end -}}
{{- $ca := .Values.database.caSecret -}}
{{- $sslmode := $patroni.sslmode | default (ternary "verify-full" "" (not (empty $ca.existingSecret))) -}}
{{- if $patroni.hosts -}}
{{- if and (hasPrefix "verify-" $sslmode) (not $ca.existingSecret) -}}
{{- fail (printf "database.patroni.sslmode is %s, which needs the CA: name its Secret in database.caSecret.existingSecret" $sslmode) -}}
{{- end -}}
{{- if and $ca.existingSecret (not (hasPrefix "verify-" $sslmode)) -}}
{{- fail (printf "database.patroni.sslmode is %s, by which the server is not always verified, and database.caSecret names a CA: leave sslmode empty, or give verify-ca or verify-full" $sslmode) -}}
{{- end -}}
{{- end -}}
- name: VEDETTE_DATABASE_URL
{{- if .Values.database.existingSecret }}
  valueFrom:
    secretKeyRef:
      name: {{ .Values.database.existingSecret | quote }}
      key: {{ .Values.database.existingSecretKey | quote }}
{{- else }}
  value: {{ .Values.database.url | default (include "vedette.patroniUrl" (set (deepCopy $patroni) "sslmode" $sslmode)) | quote }}
{{- end }}
{{- if $patroni.hosts }}
- name: PGPASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ required "set database.patroni.passwordSecret.existingSecret" $patroni.passwordSecret.existingSecret | quote }}
      key: {{ $patroni.passwordSecret.existingSecretKey | quote }}
{{- end }}
{{- with $ca.existingSecret }}
- name: PGSSLROOTCERT
  value: /etc/vedette/database-ca/{{ $ca.existingSecretKey }}
{{- end }}
{{- with .Values.database.existingSecretPooledKey }}
- name: VEDETTE_DATABASE_POOLED_URL
  valueFrom:
    secretKeyRef:
      name: {{ required "database.existingSecretPooledKey is a key of database.existingSecret" $.Values.database.existingSecret | quote }}
      key: {{ . | quote }}
{{- end }}
{{- end -}}

{{/* The file that vedette.databaseEnv names: what has its variables has these two. */}}
{{- define "vedette.databaseMount" -}}
{{- if .Values.database.caSecret.existingSecret -}}
- {name: database-ca, mountPath: /etc/vedette/database-ca, readOnly: true}
{{- end -}}
{{- end -}}

{{- define "vedette.databaseVolume" -}}
{{- with .Values.database.caSecret -}}
{{- if .existingSecret -}}
- name: database-ca
  {{- include "vedette.oneKey" . | nindent 2 }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* One key of {existingSecret, existingSecretKey}, as the source of a volume. */}}
{{- define "vedette.oneKey" -}}
secret:
  secretName: {{ .existingSecret | quote }}
  defaultMode: 0440
  items:
    - {key: {{ .existingSecretKey | quote }}, path: {{ .existingSecretKey | quote }}}
{{- end -}}

{{- define "vedette.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "vedette.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}
