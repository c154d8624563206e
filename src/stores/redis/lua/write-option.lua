--[[
Writes or deletes an option.

KEYS[1]  hash: '#' counts the writes; '=<name>' holds '<revision> <JSON>'
ARGV[1]  'set', 'swap' (only if it is at a revision) or 'delete'
ARGV[2]  name
ARGV[3]  JSON, but for 'delete'
ARGV[4]  the revision, for 'swap'; empty: no value yet
Returns  the new revision, or 0 when 'swap' found another one
]]
local field = '=' .. ARGV[2]
if ARGV[1] == 'swap' then
  local stored = redis.call('HGET', KEYS[1], field)
  local present = stored and string.match(stored, '^%d+') or ''
  if present ~= ARGV[4] then return 0 end
end
local revision = redis.call('HINCRBY', KEYS[1], '#', 1)
if ARGV[1] == 'delete' then
  redis.call('HDEL', KEYS[1], field)
else
  redis.call('HSET', KEYS[1], field, revision .. ' ' .. ARGV[3])
end
return revision
