--[[
Records changes in the index of people.

KEYS[1]  sorted set: negative times of the last logins, by user id as JSON
KEYS[2]  sorted set: negative numbers of sessions, by user id as JSON
ARGV[1]  how many people to keep; beyond that, those whose last login is oldest are removed
ARGV     then, for each change: user id as JSON; 'live', 'added' or 'ended'; time in ms; number of sessions
Returns  nothing

Scores are negative, so that the latest login or the most sessions come first.
]]
local function put(id, at, live)
  if live > 0 then
    redis.call('ZADD', KEYS[1], -at, id)
    redis.call('ZADD', KEYS[2], -live, id)
  else
    redis.call('ZREM', KEYS[1], id)
    redis.call('ZREM', KEYS[2], id)
  end
end

for i = 2, #ARGV, 4 do
  local id, kind, at, number = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  local known = redis.call('ZSCORE', KEYS[1], id)
  local last = known and -tonumber(known) or 0
  local live = -tonumber(redis.call('ZSCORE', KEYS[2], id) or 0)
  if kind == 'live' then
    if not known or last <= at then put(id, at, number) end
  elseif kind == 'added' then
    put(id, math.max(last, at), live + number)
  elseif known then
    put(id, last, math.max(0, live - number))
  end
end
local excess = redis.call('ZCARD', KEYS[1]) - ARGV[1]
if excess > 0 then
  for _, id in ipairs(redis.call('ZRANGE', KEYS[1], -excess, -1)) do put(id, 0, 0) end
end
