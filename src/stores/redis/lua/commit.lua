--[[
Registers one session and ends others if the set is still at a version. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
ARGV[1]  version that the decision was made on
ARGV[2]  name of the new session
ARGV[3]  ttl in ms, hexadecimal
ARGV[4]  generation<type><session id>
ARGV[5]  address and user agent
ARGV[6…] names of the sessions to end
Returns  0 when the set has changed; else its new value, then name, value, info of each session that was ended
]]
open()
if slot.version ~= ARGV[1] then return 0 end
local ended = {}
for index = 6, #ARGV do
  finish(ARGV[index], ended)
end
if slot.ended[ARGV[2]] then
  slot.ended[ARGV[2]] = nil
  drops[#drops + 1] = '~' .. ARGV[2]
end
local value = admit(ARGV[2], ARGV[3], ARGV[4], ARGV[5])
close()
return { value, ended }
