--[[
Reads a part of the audit stream, newest first.

KEYS[1]  stream
ARGV[1]  id of the newest entry to return, or '+'
ARGV[2]  id of the oldest entry to return, or '-'
ARGV[3]  the most entries to return
Returns  the JSON of the oldest entry of the whole stream, or an empty string, then the id and the JSON of each entry
]]
local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
local reply = { oldest and oldest[2][4] or '' }
for _, entry in ipairs(redis.call('XREVRANGE', KEYS[1], ARGV[1], ARGV[2], 'COUNT', ARGV[3])) do
  reply[#reply + 1] = entry[1]
  reply[#reply + 1] = entry[2][4]
end
return reply
