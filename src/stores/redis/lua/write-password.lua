--[[
Adds or removes an application password of one user.

KEYS[1]  hash: id to JSON
ARGV[1]  id
ARGV[2]  JSON; missing: remove
Returns  how many fields were added or removed
]]
if ARGV[2] then return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return redis.call('HDEL', KEYS[1], ARGV[1])
