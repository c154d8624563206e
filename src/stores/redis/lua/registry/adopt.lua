--[[
Registers an existing session that is not in the registry yet. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
ARGV[1]  name of the session
ARGV[2]  ttl in ms, hexadecimal
ARGV[3]  generation<type><session id>
ARGV[4]  address, device and user agent
Returns  0 if the session ended recently, or if all of the user's sessions have been ended; otherwise its value and
         info, and 1 if this call registered it
]]
open()
local name = ARGV[1]
local known = slot.sessions[name]
if known then return { known, slot.infos[name] or '' } end
if slot.mark or recall(ENDED_MEMORY_COUNT)[name] then return 0 end
local value = admit(name, ARGV[2], ARGV[3], ARGV[4], {})
close()
return { value, ARGV[4], 1 }
