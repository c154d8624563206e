--[[
Moves the generation of a group of texts on by one.

KEYS[1]  string: the generation
Returns  the new generation
]]
return redis.call('INCR', KEYS[1])
