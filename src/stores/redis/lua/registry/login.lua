--[[
Registers a session, and ends those beyond the maximum. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
KEYS[2]  string: the number of site-wide logouts
KEYS[3…] strings that may exist, such as the mark of an erasure
ARGV[1]  name of the new session
ARGV[2]  ttl in ms, hexadecimal
ARGV[3]  <type><session id>
ARGV[4]  address, device and user agent
ARGV[5]  how many live sessions the user may have
ARGV[6]  'oldest' or 'all': which sessions to end if the user already has that many
ARGV[7]  prefix of the keys in the session store, to check that it still has the live sessions
Returns  0 if the script cannot decide, for example because the session store has lost a session; otherwise the value of
         the new session; name, value and info of each session that was ended; and 1 if keys of strings were passed and
         none of them exists
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
