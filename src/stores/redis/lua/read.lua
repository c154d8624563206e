--[[
Reads a row and the server's clock.

KEYS[1]  string: as in swap.lua
Returns  the time in ms, and the string or false
]]
local time = redis.call('TIME')
return { time[1] * 1000 + math.floor(time[2] / 1000), redis.call('GET', KEYS[1]) }
