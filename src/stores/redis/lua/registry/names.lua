--[[
Reads the names of one user's sessions in parts, for users with very many sessions. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
ARGV[1]  cursor of the part to read; 0 for the first
Returns  cursor of the next part, or 0 at the end; then name and sequence of each session; the sequence of an expired or
         damaged session is 0
]]
local part = redis.call('HSCAN', key, ARGV[1], 'MATCH', string.rep('?', 11), 'COUNT', 2 * BATCH)
local names = { part[1] }
for index = 1, #part[2], 2 do
  local name, value = part[2][index], part[2][index + 1]
  names[#names + 1] = name
  names[#names + 1] = expiry(value) > now and parse(value) or 0
end
return names
