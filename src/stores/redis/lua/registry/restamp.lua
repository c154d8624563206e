--[[
Moves a session to another logout generation. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
ARGV[1]  name of the session
ARGV[2]  generation, hexadecimal
Returns  1, or 0 if the session is not registered
]]
local value = redis.call('HGET', key, ARGV[1])
if not value or expiry(value) <= now then return 0 end
local times, typed_id = string.match(value, '^(%x+,%x+,%x+,)%x+(.*)$')
local version = next_version(redis.call('HGET', key, 'v'))
redis.call('HSET', key, ARGV[1], times .. ARGV[2] .. typed_id, 'v', version)
return 1
