--[[
Reads the sessions of one user. Changes nothing. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
Returns  time in ms, then the fields and values of the hash, including expired ones
]]
guard()
return { now, redis.call('HGETALL', key) }
