--[[
Ends sessions of one user. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
ARGV[1]  'all', 'others' (all except one) or 'named'
ARGV[2…] for 'others', the name of the session to keep; for 'named', the names of the sessions to end
Returns  name, value and info of each session that this call ended; 0 if the session to keep is not registered
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
