--[[
Stores a string for a limited time.

KEYS[1]  string
ARGV[1]  the string to store
ARGV[2]  lifetime in ms
Returns  OK
]]
return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
