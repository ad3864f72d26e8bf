"""Takes the webhooks of Cellarbook, and sends their text by mail, to Slack or to ntfy. Needs Python 3.7 or later, and no package.

WEBHOOK_SECRET=whsec_… SLACK_URL=https://hooks.slack.com/services/… python3 forward_webhook.py

Mail: SMTP_HOST, MAIL_FROM and MAIL_TO; SMTP_PORT (25), SMTP_USER and SMTP_PASSWORD if the server wants them. ntfy: NTFY_URL, and
NTFY_TOKEN for a topic that is not public. It listens on HOST (127.0.0.1) and PORT (8090), and sends to everything that is set.
"""

import base64
import hashlib
import hmac
import html
import json
import os
import smtplib
import ssl
import sys
import threading
import time
import urllib.request
from collections import OrderedDict
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY_BYTES_MAX = 1_000_000
AGE_S_MAX = 300
DONE_MAX = 10_000
# Of each step. Cellarbook waits 15 s for an answer.
TIMEOUT_S = 4


def send_mail(text: str) -> None:
    mail = EmailMessage()
    # A line break in a name could add a header.
    mail["Subject"] = "Cellarbook: " + " ".join(text.split())[:100]
    mail["From"] = os.environ["MAIL_FROM"]
    mail["To"] = os.environ["MAIL_TO"]
    mail.set_content(text)
    with smtplib.SMTP(os.environ["SMTP_HOST"], int(os.environ.get("SMTP_PORT", "25")), timeout=TIMEOUT_S) as server:
        if "SMTP_USER" in os.environ:
            server.starttls(context=ssl.create_default_context())
            server.login(os.environ["SMTP_USER"], os.environ["SMTP_PASSWORD"])
        server.send_message(mail)


def send_slack(text: str) -> None:
    # A device chooses the names of racks. Without this, "<!channel>" in a name would call everybody.
    content = {"text": html.escape(text, quote=False)}
    post(os.environ["SLACK_URL"], json.dumps(content).encode(), {"Content-Type": "application/json"})


def send_ntfy(text: str) -> None:
    token = os.environ.get("NTFY_TOKEN")
    post(os.environ["NTFY_URL"], text.encode(), {"Title": "Cellarbook", **({"Authorization": f"Bearer {token}"} if token else {})})


def post(url: str, body: bytes, headers: dict) -> None:
    urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=TIMEOUT_S).close()


WAYS = {"SMTP_HOST": send_mail, "SLACK_URL": send_slack, "NTFY_URL": send_ntfy}


def is_signed(secret: bytes, headers, body: bytes) -> bool:
    """True if Cellarbook has signed exactly this body, and not long ago."""
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > AGE_S_MAX:
        return False
    signed = f"{headers.get('webhook-id', '')}.{timestamp}.".encode() + body
    wanted = b"v1," + base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest())
    given = headers.get("webhook-signature", "").encode().split()
    return any([hmac.compare_digest(wanted, one) for one in given])


class Forwarder(BaseHTTPRequestHandler):
    secret = b""
    # A message comes again, with its id, if Cellarbook has missed the answer, or if one of the ways has failed.
    done: OrderedDict = OrderedDict()
    timeout = 10
    # Cellarbook does not wait as long as a slow mail server can take. Then the same message comes again meanwhile.
    one_at_a_time = threading.Lock()

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        if not length.isdigit() or int(length) > BODY_BYTES_MAX:
            return self.answer(413, "too large")
        body = self.rfile.read(int(length))
        if not is_signed(self.secret, self.headers, body):
            return self.answer(401, "the signature is wrong, or older than five minutes")
        text = json.loads(body)["data"]["text"]
        with self.one_at_a_time:
            faults = [fault for name, send in WAYS.items() if name in os.environ for fault in self.forward(name, send, text)]
        if faults:
            return self.answer(502, "; ".join(faults))
        self.answer(200, "forwarded")

    def forward(self, name: str, send, text: str) -> list:
        done = (self.headers["webhook-id"], name)
        if done in self.done:
            return []
        try:
            send(text)
        except (OSError, smtplib.SMTPException) as fault:
            # Only the kind of the fault: its text could have the secret address.
            return [f"{name}: {type(fault).__name__}"]
        self.done[done] = True
        while len(self.done) > DONE_MAX:
            self.done.popitem(last=False)
        return []

    def answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    if not any(name in os.environ for name in WAYS):
        sys.exit(f"set one of {', '.join(WAYS)}")
    Forwarder.secret = base64.b64decode(os.environ["WEBHOOK_SECRET"].replace("whsec_", "", 1))
    server = ThreadingHTTPServer((os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "8090"))), Forwarder)
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
