#!/bin/sh
# Sends one reading and a batch, and repeats what can pass later. Needs curl 7.55 or later, awk and od.
#
#   CELLARBOOK_URL=https://cellars.example CELLARBOOK_KEY=clr_… CELLARBOOK_CELLAR=wine-berlin sh send.sh
set -u
: "${CELLARBOOK_URL:?is not set}" "${CELLARBOOK_KEY:?is not set}" "${CELLARBOOK_CELLAR:?is not set}"
second_ms="${CELLARBOOK_SECOND_MS:-1000}" # Tests make the second shorter.
tries_max=8

folder="$(mktemp -d)" || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

random_hex() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# Prints the seconds of Retry-After, or nothing without that header.
retry_after() {
  awk 'tolower($1) == "retry-after:" && $2 ~ /^[0-9]+/ { seconds = $2 + 0 } END { print seconds }' "$folder/head"
}

# Sends the file "body" to a path, and keeps the answer in the file "answer". Prints the status, or 000 if the connection
# broke. The key goes through a pipe, because every user of the machine can see the words of a command.
post_once() {
  : >"$folder/head" && : >"$folder/answer"
  printf 'X-API-Key: %s\n' "$CELLARBOOK_KEY" |
    curl --disable --silent --show-error --connect-timeout 10 --speed-limit 1 --speed-time 60 \
      --header @- \
      --header 'Content-Type: application/json' \
      --header "Idempotency-Key: ${2:?}" \
      --data-binary "@$folder/body" \
      --dump-header "$folder/head" --output "$folder/answer" --write-out '%{http_code}\n' \
      "${CELLARBOOK_URL%/}$1" >"$folder/status" && cat "$folder/status" || echo 000
}

# Waits the time and up to a half more, so that the devices of a fleet do not return at the same moment.
wait_seconds() {
  chance="$(od -An -N2 -tu2 /dev/urandom)"
  ms=$(($1 * second_ms * (131072 + chance) / 131072))
  sleep "$((ms / 1000)).$(printf '%03d' $((ms % 1000)))"
}

# Sends standard input to a path until it is stored or refused for good. Every try has the same idempotency key.
send() {
  cat >"$folder/body"
  idempotency_key="$(random_hex)"
  backoff=1
  try=1
  while :; do
    status="$(post_once "$1" "$idempotency_key")"
    case "$status" in
      200 | 207) cat "$folder/answer" && echo && return 0 ;;
      000 | 408 | 409 | 429 | 500 | 502 | 503 | 504) ;;
      *) echo "refused with $status: $(cat "$folder/answer")" >&2 && return 1 ;;
    esac
    [ "$try" -lt "$tries_max" ] || break
    seconds="$(retry_after)"
    seconds="${seconds:-$backoff}"
    echo "status $status: next try in $seconds s" >&2
    wait_seconds "$seconds"
    backoff=$((backoff < 32 ? backoff * 2 : 60))
    try=$((try + 1))
  done
  echo "not stored after $tries_max tries: keep the readings" >&2
  return 1
}

# In JSON, a quote or a backslash in a name needs a backslash before it.
reading() { printf '{"cellar":"%s","rack":"rack-17","keg":"%s","value":%s,"timestamp":"%s"}' "$CELLARBOOK_CELLAR" "$1" "$2" "$now"; }

now="$(date -u +%Y-%m-%dT%H:%M:%SZ)"
reading temperature 21.5 | send /api/v1/ingest || exit 1
printf '{"readings":[%s,%s]}' "$(reading temperature 21.6)" "$(reading humidity 64)" | send /api/v1/ingest/batch || exit 1
