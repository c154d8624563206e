--[[
Deletes entries of the audit stream.

KEYS[1]  stream
ARGV[1]  'before' or 'these'
ARGV[2…] for 'before', the id of the newest entry to delete, and the most entries to delete; otherwise, the ids
Returns  how many entries were deleted
]]
local ids = {}
if ARGV[1] == 'before' then
  for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', ARGV[2], 'COUNT', ARGV[3])) do
    ids[#ids + 1] = entry[1]
  end
else
  for index = 2, #ARGV do ids[#ids + 1] = ARGV[index] end
end
if #ids == 0 then return 0 end
return redis.call('XDEL', KEYS[1], unpack(ids))
