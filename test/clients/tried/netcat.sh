# Without -N, netcat keeps its sending side open after the end of its input. So it can still get the answer.
address="${INGEST_URL#http://}"
host="${address%%/*}"
printf 'POST /%s HTTP/1.1\r\nHost: %s\r\nX-API-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %s\r\nConnection: close\r\n\r\n%s' \
  "${address#*/}" "$host" "$KEY" "$(printf '%s' "$READING" | wc -c)" "$READING" | nc "${host%:*}" "${host#*:}"
