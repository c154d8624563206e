--[[
Ends sessions of one user. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
ARGV[1]  'all', or 'named'
ARGV[2…] names of the sessions to end, for 'named'
Returns  name, value, info of each session that this call ended
]]
open()
local ended = {}
if ARGV[1] == 'all' then
  local names = {}
  for name in pairs(slot.sessions) do names[#names + 1] = name end
  for _, name in ipairs(names) do finish(name, ended) end
else
  for index = 2, #ARGV do finish(ARGV[index], ended) end
end
if #ended > 0 then
  advance()
  close()
end
return ended
