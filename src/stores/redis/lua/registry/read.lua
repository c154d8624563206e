--[[
Reads the sessions of one user. Changes only times in the future, if the clock was set back. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
Returns  time in ms, then the fields and values of the hash, including expired ones
]]
guard()
local all = redis.call('HGETALL', key)
for index = 1, #all, 2 do
  if #all[index] == 11 and is_ahead(all[index + 1]) then
    open()
    close()
    return { now, redis.call('HGETALL', key) }
  end
end
return { now, all }
