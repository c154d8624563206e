--[[
Writes or deletes an option.

KEYS[1]  hash: '#' holds the latest revision; '=<name>' holds '<revision> <JSON>'
ARGV[1]  'set', 'swap' (only if it is at a revision) or 'delete'
ARGV[2]  name
ARGV[3]  JSON, but for 'delete'
ARGV[4]  the revision, for 'swap'; empty: no value yet
Returns  the new revision, or 0 when 'swap' found another one

A revision grows with every write, and faster than the clock in microseconds: it does not come back, and so nobody takes
what he knows for current, when the hash itself was lost.
]]
local field = '=' .. ARGV[2]
if ARGV[1] == 'swap' then
  local stored = redis.call('HGET', KEYS[1], field)
  local present = stored and string.match(stored, '^%d+') or ''
  if present ~= ARGV[4] then return 0 end
end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local latest = tonumber(redis.call('HGET', KEYS[1], '#') or 0)
local revision = string.format('%.0f', math.max(latest + 1, now))
redis.call('HSET', KEYS[1], '#', revision)
if ARGV[1] == 'delete' then
  redis.call('HDEL', KEYS[1], field)
else
  redis.call('HSET', KEYS[1], field, revision .. ' ' .. ARGV[3])
end
return tonumber(revision)
