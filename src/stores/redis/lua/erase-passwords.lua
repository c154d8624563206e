--[[
Removes all application passwords of one user.

KEYS[1]  hash: as in has-password.lua
Returns  1, or 0 if there were none
]]
return redis.call('DEL', KEYS[1])
