import http.client, os
from urllib.parse import urlsplit

address = urlsplit(os.environ["INGEST_URL"])
connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
headers = {"X-API-Key": os.environ["KEY"], "Content-Type": "application/json"}
connection.request("POST", address.path, os.environ["READING"].encode(), headers)
print(connection.getresponse().read().decode())
