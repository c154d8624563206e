--[[
Notes that a session was used, and moves its expiry. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
ARGV[1]  name of the session
ARGV[2]  ttl in ms, hexadecimal
Returns  1, or 0 when it is not registered
]]
local value = redis.call('HGET', key, ARGV[1])
if not value or expiry(value) <= now then return 0 end
local admitted, _, _, rest = parse(value)
local seen = math.max(0, now - admitted)
redis.call('HSET', key, ARGV[1], hex(admitted) .. ',' .. hex(seen) .. ',' .. ARGV[2] .. ',' .. rest)
local ttl = tonumber(ARGV[2], 16)
if redis.call('PTTL', key) < ttl then redis.call('PEXPIRE', key, string.format('%.0f', ttl)) end
return 1
