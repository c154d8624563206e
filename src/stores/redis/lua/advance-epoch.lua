--[[
Moves the logout generation on by one.

KEYS[1]  string: the generation
Returns  the new generation, and the time in Unix seconds
]]
return { redis.call('INCR', KEYS[1]), tonumber(redis.call('TIME')[1]) }
