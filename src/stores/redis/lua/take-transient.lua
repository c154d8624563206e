--[[
Reads a string and deletes it.

KEYS[1]  string
Returns  the string, or false
]]
local value = redis.call('GET', KEYS[1])
if value then redis.call('DEL', KEYS[1]) end
return value
