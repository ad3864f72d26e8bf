"""Sends one reading and a batch, and repeats what can pass later. For MicroPython 1.23 or later.

Beside it, a file cellarbook_config.py says where to send. Keep that file out of version control, because it has the key:

    URL = "https://cellars.example"
    KEY = "clr_..."
    CELLAR = "wine-berlin"
    CA = "/ca.der"  # for https: the certificate of the authority that signed the service's one
"""

import binascii
import json
import os
import socket
import time

import cellarbook_config as config

RETRY_STATUSES = (0, 408, 409, 429, 500, 502, 503, 504)  # 0: the connection broke
TRIES_MAX = 8
TIMEOUT_S = 60
BACKOFF_S_MAX = 60
SECOND_MS = getattr(config, "SECOND_MS", 1000)  # Tests make the second shorter.


def address_of(url):
    scheme, rest = url.split("://", 1)
    name, slash, path = rest.partition("/")
    host, _, port = name.partition(":")
    return scheme == "https", name, host, int(port or (443 if scheme == "https" else 80)), (slash + path).rstrip("/")


IS_TLS, HOST_HEADER, HOST, PORT, BASE_PATH = address_of(config.URL)


def connect():
    """Returns a stream and what to close in the end."""
    family, kind, protocol, _, address = socket.getaddrinfo(HOST, PORT, 0, socket.SOCK_STREAM)[0]
    connection = socket.socket(family, kind, protocol)
    try:
        connection.settimeout(TIMEOUT_S)
        connection.connect(address)
        if IS_TLS:
            import ssl

            # Without this check, everybody on the way could read the key.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.verify_mode = ssl.CERT_REQUIRED
            with open(config.CA, "rb") as file:
                context.load_verify_locations(cadata=file.read())
            connection = context.wrap_socket(connection, server_hostname=HOST)
        # MicroPython's TLS connections are streams already.
        return connection.makefile("rwb", 0) if hasattr(connection, "makefile") else connection, connection
    except Exception:
        connection.close()
        raise


def read_answer(stream):
    """Returns the status, the seconds of Retry-After or None, and the body. Raises OSError if the answer is not complete."""
    words = stream.readline().split(None, 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/1."):
        raise OSError("no answer")
    length = None
    retry_after = None
    while True:
        line = stream.readline()
        if not line:
            raise OSError("the answer was cut off")
        if line == b"\r\n":
            break
        name, _, value = line.partition(b":")
        name = name.lower()
        value = value.strip()
        if name == b"content-length":
            length = int(value)
        elif name == b"retry-after" and value.isdigit():
            retry_after = int(value)
    body = b""
    while length is None or len(body) < length:
        piece = stream.read(512 if length is None else length - len(body))
        if not piece:
            break
        body += piece
    if length is not None and len(body) < length:
        raise OSError("the answer was cut off")
    return int(words[1]), retry_after, body


def post(path, idempotency_key, body):
    head = (
        "POST %s HTTP/1.1\r\n"
        "Host: %s\r\n"
        "X-API-Key: %s\r\n"
        "Content-Type: application/json\r\n"
        "Idempotency-Key: %s\r\n"
        "Content-Length: %d\r\n"
        "Connection: close\r\n"
        "\r\n"
    ) % (BASE_PATH + path, HOST_HEADER, config.KEY, idempotency_key, len(body))
    try:
        stream, connection = connect()
        try:
            # One write: a head and a body in two packets take longer on some network chips.
            stream.write(head.encode() + body)
            return read_answer(stream)
        finally:
            stream.close()
            connection.close()
    except (OSError, ValueError) as fault:
        return 0, None, repr(fault).encode()


def text_of(answer):
    """A proxy can answer with a page that is not UTF-8."""
    try:
        return answer.decode()
    except UnicodeError:
        return repr(answer)


def send(path, content):
    """Returns True if it is stored. Every try has the same bytes and the same idempotency key."""
    body = json.dumps(content).encode()
    idempotency_key = binascii.hexlify(os.urandom(16)).decode()
    backoff_s = 1
    for attempt in range(TRIES_MAX):
        status, retry_after, answer = post(path, idempotency_key, body)
        if status in (200, 207):
            print(text_of(answer))
            return True
        print("not stored yet:", status, text_of(answer))
        if status not in RETRY_STATUSES:
            return False
        if attempt + 1 < TRIES_MAX:
            wait_s = backoff_s if retry_after is None else retry_after
            print("next try in %d s" % wait_s)
            # Up to a half longer, so that the devices of a fleet do not return at the same moment.
            time.sleep(wait_s * (1 + os.urandom(1)[0] / 512) * SECOND_MS / 1000)
            backoff_s = min(backoff_s * 2, BACKOFF_S_MAX)
    return False


def reading(keg, value):
    """Returns None without a value or a time: leave such a reading out. ntptime.settime() sets the clock in UTC."""
    now = time.gmtime()
    if value != value or value in (float("inf"), float("-inf")) or now[0] < 2024:
        return None
    return {
        "cellar": config.CELLAR,
        "rack": "rack-17",
        "keg": keg,
        "value": value,
        "timestamp": "%04d-%02d-%02dT%02d:%02d:%02dZ" % tuple(now)[:6],
    }


def main():
    one = reading("temperature", 21.5)
    if one and not send("/api/v1/ingest", one):
        return False
    several = [item for item in (reading("temperature", 21.6), reading("humidity", 64)) if item]
    return not several or send("/api/v1/ingest/batch", {"readings": several})


if __name__ == "__main__" and not main():
    raise SystemExit(1)
