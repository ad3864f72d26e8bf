-- Sends the same readings as `ingest-load.lua` and `batch-load.lua`, but in InfluxDB's line protocol.
-- Each request has BENCH_POINTS readings.
-- The lines have no timestamps, so the server gives each reading its own time, and every reading is a new point.
local requests, turn = {}, 0

function init()
  local points = tonumber(os.getenv("BENCH_POINTS"))
  for variant = 1, 16 do
    local lines = {}
    for point = 1, points do
      local device = (variant * points + point) % 1000
      lines[point] = string.format("temperature,cellar=%s,rack=rack-%04d value=%.2f",
        os.getenv("BENCH_CELLAR"), device, 18 + (device + variant) / 7)
    end
    local headers = { ["Content-Type"] = "text/plain" }
    requests[variant] = wrk.format("POST", os.getenv("BENCH_PATH"), headers, table.concat(lines, "\n"))
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end
