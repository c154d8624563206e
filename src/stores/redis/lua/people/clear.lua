--[[
Removes from the index up to a given number of people whose last login was before a time.

KEYS[1]  sorted set: negative times of the last logins
KEYS[2]  sorted set: negative numbers of sessions
KEYS[3]  string: the total number of sessions
ARGV[1]  time in ms
ARGV[2]  how many people to remove at most
Returns  how many were removed
]]
local sum, count = 0, 0
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], -ARGV[2], -1)) do
  if -tonumber(redis.call('ZSCORE', KEYS[1], id)) < tonumber(ARGV[1]) then
    sum = sum + tonumber(redis.call('ZSCORE', KEYS[2], id) or 0)
    count = count + 1
    redis.call('ZREM', KEYS[1], id)
    redis.call('ZREM', KEYS[2], id)
  end
end
if sum ~= 0 then redis.call('INCRBY', KEYS[3], sum) end
return count
