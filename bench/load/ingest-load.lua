-- Sends single readings of 16 racks for each key of BENCH_KEYS (separated by spaces), in turn.
-- The requests are formatted once, so that the load costs little beside the service.
local requests, turn = {}, 0

function init()
  for key in os.getenv("BENCH_KEYS"):gmatch("%S+") do
    for device = 1, 16 do
      local body = string.format(
        '{"cellar":"%s","rack":"rack-%04d","keg":"temperature","value":%.2f,"timestamp":"2026-03-01T12:00:%02dZ"}',
        os.getenv("BENCH_CELLAR"), device, 18 + device / 7, device)
      local headers = { ["Content-Type"] = "application/json", ["X-API-Key"] = key }
      requests[#requests + 1] = wrk.format("POST", "/api/v1/ingest", headers, body)
    end
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end
