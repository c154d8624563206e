--[[
Reads a page of the index of people.

KEYS[1]  the sorted set to list
KEYS[2]  the other sorted set
ARGV[1]  how many people to return
ARGV[2]  score of the person before the page; missing for the first page
ARGV[3]  user id of that person as JSON; empty to begin with everybody of that score
Returns  for each person: user id as JSON, and both scores
]]
local start = 0
if ARGV[2] then
  -- The person before the page may have left or moved. A temporary entry that sorts right after them marks the place.
  local behind = ARGV[3] .. '\0'
  redis.call('ZADD', KEYS[1], ARGV[2], behind)
  start = redis.call('ZRANK', KEYS[1], behind)
  redis.call('ZREM', KEYS[1], behind)
end
local page = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], start, start + ARGV[1] - 1)) do
  page[#page + 1] = id
  page[#page + 1] = redis.call('ZSCORE', KEYS[1], id)
  page[#page + 1] = redis.call('ZSCORE', KEYS[2], id) or '0'
end
return page
