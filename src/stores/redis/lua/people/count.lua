--[[
Counts the people in the index.

KEYS[1]  sorted set: negative numbers of sessions
KEYS[2]  string: the total number of sessions
ARGV[1]  how many sessions a person needs to be counted separately
Returns  the number of people, of sessions, and of people with at least that many sessions
]]
local sessions = tonumber(redis.call('GET', KEYS[2]) or 0)
return { redis.call('ZCARD', KEYS[1]), sessions, redis.call('ZCOUNT', KEYS[1], '-inf', -ARGV[1]) }
