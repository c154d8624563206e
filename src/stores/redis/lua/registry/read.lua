--[[
Reads the sessions of one user. Writes only if the clock was set back, to correct times in the future. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
Returns  time in ms, then the fields and values of the hash, including expired ones
]]
local all = redis.call('HGETALL', key)
for index = 1, #all, 2 do
  if #all[index] == 11 and is_ahead(all[index + 1]) then
    open()
    close()
    return { now, redis.call('HGETALL', key) }
  end
end
return { now, all }
