--[[
Moves a session to another logout generation. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
ARGV[1]  name of the session
ARGV[2]  generation, hexadecimal
ARGV[3]  version that the set must have; empty for any
Returns  1, or 0 if the session is not registered or the set has another version
]]
local value = redis.call('HGET', key, ARGV[1])
if not value or expiry(value) <= now then return 0 end
local before = redis.call('HGET', key, 'v') or '0'
if ARGV[3] ~= '' and before ~= ARGV[3] then return 0 end
local times, typed_id = string.match(value, '^(%x+,%x+,%x+,)%x+(.*)$')
redis.call('HSET', key, ARGV[1], times .. ARGV[2] .. typed_id, 'v', next_version(before))
return 1
