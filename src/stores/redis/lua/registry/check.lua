--[[
Reads one session unless it has expired. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
ARGV[1]  name of the session
Returns  time in ms, then the value of the session if it is registered
]]
local value = redis.call('HGET', key, ARGV[1])
if not value or expiry(value) <= now then return { now } end
return { now, value }
