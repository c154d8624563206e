--[[
Records that a session was used, and postpones its expiry. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
ARGV[1]  name of the session
ARGV[2]  ttl in ms, hexadecimal
ARGV[3]  how many ms the stored time may be out of date, hexadecimal
Returns  1, or 0 if the session is not registered
]]
local value = redis.call('HGET', key, ARGV[1])
if not value or expiry(value) <= now then return 0 end
if is_ahead(value) then
  open()
  close()
  value = redis.call('HGET', key, ARGV[1])
end
local admitted, before, life, rest = parse(value)
local seen, ttl, fresh = math.max(0, now - admitted), tonumber(ARGV[2], 16), tonumber(ARGV[3], 16)
-- Redis reports each write to every process that watches the key, and each of them then reads it again.
if seen - before < fresh and math.abs(seen + ttl - before - life) < fresh then return 1 end
redis.call('HSET', key, ARGV[1], hex(admitted) .. ',' .. hex(seen) .. ',' .. ARGV[2] .. ',' .. rest)
if redis.call('PTTL', key) < ttl then redis.call('PEXPIRE', key, string.format('%.0f', ttl)) end
return 1
