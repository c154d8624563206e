--[[
Registers a session, and ends those beyond the maximum. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
KEYS[2]  the number of site-wide logouts
KEYS[3…] strings to look for
ARGV[1]  name of the new session
ARGV[2]  ttl in ms, hexadecimal
ARGV[3]  <type><session id>
ARGV[4]  address, device and user agent
ARGV[5]  how many live sessions the user may have
ARGV[6]  'oldest' or 'all': the sessions to end if the user has that many
ARGV[7]  prefix of the keys in the session store: sessions that it has lost do not count
Returns  0 if that cannot be decided here; otherwise the value of the new session, then name, value and info of each session
         that was ended, and 1 if there is none of the strings
]]
open()
local current = redis.call('GET', KEYS[2]) or '0'
if slot.sessions[ARGV[1]] or slot.count >= MOST_SESSIONS or not string.match(current, '^%d+$') or #current > 15 then return 0 end
local generation, live = tonumber(current), {}
for name, value in pairs(slot.sessions) do
  if tonumber(string.match(value, '^%x+,%x+,%x+,(%x+)'), 16) >= generation then live[#live + 1] = name end
end
local ended = {}
if #live >= tonumber(ARGV[5]) then
  local held = {}
  for index, name in ipairs(live) do held[index] = ARGV[7] .. string.match(slot.sessions[name], '^%x+,%x+,%x+,%x+[ns](.*)$') end
  if redis.call('EXISTS', unpack(held)) < #live then return 0 end
  table.sort(live, function(a, b) return slot.admitted[a] < slot.admitted[b] end)
  for index = 1, ARGV[6] == 'all' and #live or #live - tonumber(ARGV[5]) + 1 do finish(live[index], ended) end
end
local value = admit(ARGV[1], ARGV[2], hex(generation) .. ARGV[3], ARGV[4], ended)
close()
return { value, ended, has_none(3) }
