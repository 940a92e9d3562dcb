-- Counts one request, if it may be counted.
-- KEYS[1]  list of the moments of the counted requests, oldest first, in microseconds since 1970
-- ARGV     quota (at least 1), window in microseconds
-- Returns  1 when it was counted or else 0, how many more may be, microseconds until that grows, the moment it is
local key, quota, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local at = string.format('%.0f', now)

-- The clock was set back: what seems to be to come counts as of now, so that it leaves late rather than early.
local i, newest = -1, redis.call('LINDEX', key, -1)
while newest and tonumber(newest) > now do
  redis.call('LSET', key, i, at)
  i = i - 1
  newest = redis.call('LINDEX', key, i)
end

local oldest = redis.call('LINDEX', key, 0)
while oldest and tonumber(oldest) <= now - window do
  redis.call('LPOP', key)
  oldest = redis.call('LINDEX', key, 0)
end

local counted, allowed = redis.call('LLEN', key), 0
if counted < quota then
  redis.call('RPUSH', key, at)
  -- A second more: the clock that keys expire by is read at another moment than TIME.
  redis.call('PEXPIRE', key, math.ceil(window / 1000) + 1000)
  counted, allowed = counted + 1, 1
end

-- Under a quota that was lowered meanwhile, several have to leave before there is room for one.
local leaves = redis.call('LINDEX', key, math.max(0, counted - quota)) + window
return {allowed, math.max(0, quota - counted), leaves - now, now}
