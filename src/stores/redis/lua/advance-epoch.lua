--[[
Increments the logout generation.

KEYS[1]  string: the generation
ARGV[1]  the expected generation; if missing, any is incremented
Returns  the new generation and the time in Unix seconds; nothing if the generation is not the expected one; an error if
         the stored value is not a whole number
]]
local current = redis.call('GET', KEYS[1]) or '0'
if #current > 15 or not string.match(current, '^%d+$') then
  return redis.error_reply('ERR the logout generation is not a whole number')
end
if ARGV[1] and ARGV[1] ~= current then return {} end
return { redis.call('INCR', KEYS[1]), tonumber(redis.call('TIME')[1]) }
