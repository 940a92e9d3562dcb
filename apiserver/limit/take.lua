-- Counts one request, if it may be counted in all lists.
-- KEYS     lists of the moments of the counted requests, oldest first, in microseconds since 1970: the client's, then that of
--          its network when it has one
-- ARGV     quota (at least 1), window in microseconds, the network's quota
-- Returns  1 when it was counted, 0 when the client's quota is used up, -1 when the network's is; how many more the client may
--          make, microseconds until that (or the network's) grows, the moment it is
local quota, window, networkQuota = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local at = string.format('%.0f', now)

-- Drops what has left the window, and gives how many are counted.
local function look(key)
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
  return redis.call('LLEN', key)
end

-- Under a quota that was lowered meanwhile, several have to leave before there is room for one.
local function reset(key, counted, most)
  return redis.call('LINDEX', key, math.max(0, counted - most)) + window - now
end

if KEYS[2] then
  local counted = look(KEYS[2])
  if counted >= networkQuota then
    return {-1, 0, reset(KEYS[2], counted, networkQuota), now}
  end
end

local counted, allowed = look(KEYS[1]), 0
if counted < quota then
  for _, key in ipairs(KEYS) do
    redis.call('RPUSH', key, at)
    -- A second more: the clock that keys expire by is read at another moment than TIME.
    redis.call('PEXPIRE', key, math.ceil(window / 1000) + 1000)
  end
  counted, allowed = counted + 1, 1
end
return {allowed, math.max(0, quota - counted), reset(KEYS[1], counted, quota), now}
