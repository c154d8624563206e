--[[
Reads a page of the index of people.

KEYS[1]  sorted set that has the order
KEYS[2]  sorted set with the other number
ARGV[1]  how many people
ARGV[2]  score of the person before the page; missing for the first page
ARGV[3]  their user id as JSON
Returns  for each person: user id as JSON, both scores
]]
local start = 0
if ARGV[2] then
  -- The person may be gone or elsewhere. What sorts right behind them shows where they were.
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
