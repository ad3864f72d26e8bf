-- Sends batches of BENCH_POINTS readings, with the keys of BENCH_KEYS (separated by spaces) in turn.
-- The requests are formatted once, so that the load costs little beside the service.
local requests, turn = {}, 0

function init()
  local points, variant = tonumber(os.getenv("BENCH_POINTS")), 0
  for key in os.getenv("BENCH_KEYS"):gmatch("%S+") do
    variant = variant + 1
    local readings = {}
    for point = 1, points do
      local device = (variant * points + point) % 1000
      readings[point] = string.format(
        '{"cellar":"%s","rack":"rack-%04d","keg":"temperature","value":%.2f,"timestamp":"2026-03-01T12:%02d:%02dZ"}',
        os.getenv("BENCH_CELLAR"), device, 18 + (device + variant) / 7, variant % 60, point % 60)
    end
    local headers = { ["Content-Type"] = "application/json", ["X-API-Key"] = key }
    requests[#requests + 1] = wrk.format("POST", "/api/v1/ingest/batch", headers,
      '{"readings":[' .. table.concat(readings, ",") .. "]}")
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end
