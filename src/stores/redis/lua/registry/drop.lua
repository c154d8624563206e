--[[
Removes sessions of one user without remembering them as ended. Uses slot.lua.

KEYS[1]  hash: the sessions of one user
ARGV[1…] names of the sessions
Returns  OK
]]
local fields = {}
for index = 1, #ARGV do
  fields[#fields + 1] = ARGV[index]
  fields[#fields + 1] = 'i' .. ARGV[index]
  fields[#fields + 1] = 'r:' .. ARGV[index]
end
write('HDEL', fields)
return redis.call('HSET', key, 'v', next_version(redis.call('HGET', key, 'v'))) and 'OK'
