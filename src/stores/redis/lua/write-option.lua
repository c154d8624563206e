--[[
Writes or deletes an option.

KEYS[1]  hash: '#' counts the writes; '=<name>' holds '<revision> <JSON>'
ARGV[1]  name
ARGV[2]  JSON; missing: delete
Returns  the revision
]]
local revision = redis.call('HINCRBY', KEYS[1], '#', 1)
if ARGV[2] then
  redis.call('HSET', KEYS[1], '=' .. ARGV[1], revision .. ' ' .. ARGV[2])
else
  redis.call('HDEL', KEYS[1], '=' .. ARGV[1])
end
return revision
