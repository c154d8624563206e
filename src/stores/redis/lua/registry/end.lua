--[[
Ends sessions of one user. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
ARGV[1]  'all', 'others' (all but one), or 'named'
ARGV[2…] the name of the one to keep, for 'others'; names of the sessions to end, for 'named'
Returns  name, value, info of each session that this call ended; 0 when the one to keep is not registered
]]
open()
local ended = {}
if ARGV[1] == 'named' then
  for index = 2, #ARGV do finish(ARGV[index], ended) end
else
  local kept = ARGV[2]
  if kept and not slot.sessions[kept] then return 0 end
  local names = {}
  for name in pairs(slot.sessions) do
    if name ~= kept then names[#names + 1] = name end
  end
  for _, name in ipairs(names) do finish(name, ended) end
  mark()
end
if #ended > 0 then advance() end
if #puts + #drops > 0 then close() end
return ended
