--[[
Counts the people in the index.

KEYS[1]  sorted set: negative numbers of sessions
KEYS[2]  string: the sum of the numbers
ARGV[1]  the least number of sessions of the people to count separately
Returns  people, sessions, people with at least that number
]]
local sessions = tonumber(redis.call('GET', KEYS[2]) or 0)
return { redis.call('ZCARD', KEYS[1]), sessions, redis.call('ZCOUNT', KEYS[1], '-inf', -ARGV[1]) }
