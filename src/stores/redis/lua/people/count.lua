--[[
Counts the people in the index by their number of sessions.

KEYS[1]  sorted set: negative numbers of sessions
Returns  for each number of sessions that somebody has: the negative number, and how many people have it
]]
local counts = {}
local start = 0
while true do
  local score = redis.call('ZRANGE', KEYS[1], start, start, 'WITHSCORES')[2]
  if not score then return counts end
  local people = redis.call('ZCOUNT', KEYS[1], score, score)
  counts[#counts + 1] = score
  counts[#counts + 1] = people
  start = start + people
end
