--[[
Lists the application passwords of one user.

KEYS[1]  hash: as in has-password.lua
Returns  the JSON of each password
]]
local all, found = redis.call('HGETALL', KEYS[1]), {}
for index = 1, #all, 2 do
  if not string.match(all[index], '^=') then found[#found + 1] = all[index + 1] end
end
return found
