# Bash opens a socket by itself. One write for each line, as simple programs do.
address="${INGEST_URL#http://}"
host="${address%%/*}"
exec 3<>"/dev/tcp/${host%:*}/${host#*:}"
printf 'POST /%s HTTP/1.1\r\n' "${address#*/}" >&3
printf 'Host: %s\r\nX-API-Key: %s\r\n' "$host" "$KEY" >&3
printf 'Content-Type: application/json\r\nContent-Length: %s\r\n' "$(printf '%s' "$READING" | wc -c)" >&3
printf 'Connection: close\r\n\r\n%s' "$READING" >&3
cat <&3
