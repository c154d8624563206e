--[[
Ends sessions of one user and forgets them. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
ARGV[1]  'all' or 'named'
ARGV[2]  if not empty, nothing changes until the clock has passed the version, because the next version could repeat it
ARGV[3…] for 'named', the names of the sessions to end
Returns  the server's time in ms, then name, value and info of each session that this call ended; nothing if the clock
         has not passed the version yet
]]
open()
if ARGV[2] ~= '' and tonumber(slot.version, 16) >= now then return false end
local ended = {}
if ARGV[1] == 'named' then
  for index = 3, #ARGV do finish(ARGV[index], ended) end
else
  local names = {}
  for name in pairs(slot.sessions) do names[#names + 1] = name end
  for _, name in ipairs(names) do finish(name, ended) end
end
if slot.count == 0 then
  redis.call('DEL', key)
elseif #ended > 0 then
  slot.finished = {}
  advance()
  close()
end
table.insert(ended, 1, now)
return ended
