--[[
Reads the sessions of one user. Changes nothing.

KEYS[1]  hash: the sessions of one user
Returns  time in ms, then the fields and values of the hash, expired ones included
]]
local time = redis.call('TIME')
return { time[1] * 1000 + math.floor(time[2] / 1000), redis.call('HGETALL', KEYS[1]) }
