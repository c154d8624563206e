--[[
Keeps a text for a while.

KEYS[1]  string
ARGV[1]  text
ARGV[2]  life in ms
Returns  OK
]]
return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
