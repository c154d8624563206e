--[[
Reads the names of very many sessions of one user, a part at a time. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
ARGV[1]  where to go on: 0 at the beginning
Returns  where to go on, 0 at the end; then name and sequence of each session, the sequence being 0 when it is over
]]
local part = redis.call('HSCAN', key, ARGV[1], 'MATCH', string.rep('?', 11), 'COUNT', 2 * BATCH)
local names = { part[1] }
for index = 1, #part[2], 2 do
  local name, value = part[2][index], part[2][index + 1]
  names[#names + 1] = name
  names[#names + 1] = expiry(value) > now and parse(value) or 0
end
return names
