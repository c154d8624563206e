--[[
Writes or deletes an option.

KEYS[1]  hash: '#' holds the latest revision; '=<name>' holds '<revision> <JSON>'
ARGV[1]  'set', 'swap' (sets the option only if it has the given revision) or 'delete'
ARGV[2]  name
ARGV[3]  JSON; not used by 'delete'
ARGV[4]  for 'swap', the expected revision; empty if there must be no value yet
Returns  the new revision, or 0 if 'swap' found another one

Revisions increase with every write, at least to the clock in microseconds. So even if the hash is lost, no revision
repeats, and no process mistakes its old value for the current one.
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
