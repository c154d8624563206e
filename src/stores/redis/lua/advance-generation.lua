--[[
Increments the generation of a group of transients.

KEYS[1]  string: the generation
Returns  the new generation
]]
return redis.call('INCR', KEYS[1])
