require "net/http"

headers = { "X-API-Key" => ENV["KEY"], "Content-Type" => "application/json" }
puts Net::HTTP.post(URI(ENV["INGEST_URL"]), ENV["READING"], headers).body
