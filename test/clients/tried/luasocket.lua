local http, ltn12 = require("socket.http"), require("ltn12")
local body, answer = os.getenv("READING"), {}
http.request {
  url = os.getenv("INGEST_URL"), method = "POST", source = ltn12.source.string(body), sink = ltn12.sink.table(answer),
  headers = { ["X-API-Key"] = os.getenv("KEY"), ["Content-Type"] = "application/json", ["Content-Length"] = #body },
}
print(table.concat(answer))
