import os, urllib.request

headers = {"X-API-Key": os.environ["KEY"], "Content-Type": "application/json"}
request = urllib.request.Request(os.environ["INGEST_URL"], os.environ["READING"].encode(), headers)
print(urllib.request.urlopen(request, timeout=20).read().decode())
