--[[
Appends events to the audit stream.

KEYS[1]  stream: each entry has the fields 'id' and 'event'
ARGV[1]  the most entries to keep, approximately
ARGV[2]  how many of the last entries to search for events that are already there; 0 if there can be none
ARGV[3…] id and JSON of each event
]]
local known = {}
if tonumber(ARGV[2]) > 0 then
  for _, entry in ipairs(redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', ARGV[2])) do
    known[entry[2][2]] = true
  end
end
for index = 3, #ARGV, 2 do
  if not known[ARGV[index]] then
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'id', ARGV[index], 'event', ARGV[index + 1])
  end
end
return true
