--[[
Registers a session and ends others, if the set still has the given version. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
KEYS[2…] strings that may exist, such as the mark of an erasure
ARGV[1]  version that the decision is based on
ARGV[2]  name of the new session
ARGV[3]  ttl in ms, hexadecimal
ARGV[4]  generation<type><session id>
ARGV[5]  address, device and user agent
ARGV[6]  name of a session that must be live, or empty
ARGV[7]  empty, or separated by commas: ms, hexadecimal, and names of sessions that must have been unused for that long
ARGV[8…] names of the sessions to end
Returns  0 if the set has another version or a session was used; -1 if the session that must be live has ended;
         otherwise the value of the new session; name, value and info of each session that was ended; and 1 if keys of
         strings were passed and none of them exists
]]
open()
if ARGV[6] ~= '' then
  local value = slot.sessions[ARGV[6]]
  -- The match ends at the type of the user id, which is not a hexadecimal digit.
  local own = value and string.match(value, '^%x+,%x+,%x+,(%x+)')
  if not own or tonumber(own, 16) < tonumber(string.match(ARGV[4], '^%x+'), 16) then return -1 end
end
if slot.version ~= ARGV[1] then return 0 end
if ARGV[7] ~= '' then
  local least = tonumber(string.match(ARGV[7], '^%x+'), 16)
  for name in string.gmatch(ARGV[7], ',([^,]+)') do
    local admitted, seen = parse(slot.sessions[name] or '')
    if admitted and now - admitted - seen < least then return 0 end
  end
end
local ended = {}
for index = 8, #ARGV do
  finish(ARGV[index], ended)
end
local value = admit(ARGV[2], ARGV[3], ARGV[4], ARGV[5], ended)
close()
return { value, ended, has_none(2) }
