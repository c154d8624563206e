--[[
Stores a string for a limited time if the key still has the expected string.

KEYS[1]  string
ARGV[1]  the string to store
ARGV[2]  lifetime in ms
ARGV[3]  the expected string; missing if the key must not exist
Returns  the string that the key had before, or false
]]
local found = redis.call('GET', KEYS[1])
if found == (ARGV[3] or false) then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return found
