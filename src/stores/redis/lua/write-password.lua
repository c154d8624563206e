--[[
Adds or removes an application password of one user.

KEYS[1]  hash: as in has-password.lua
ARGV[1]  id
ARGV[2]  JSON; if missing, the password is removed
Returns  1, or 0 if there was none to remove
]]
local before = redis.call('HGET', KEYS[1], ARGV[1])
if not before and not ARGV[2] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
if before then
  local hash, all = cjson.decode(before).hash, redis.call('HGETALL', KEYS[1])
  redis.call('HDEL', KEYS[1], '=' .. hash)
  for index = 1, #all, 2 do
    -- Another id has the same password, so its hash stays.
    local isPassword = not string.match(all[index], '^=')
    if isPassword and cjson.decode(all[index + 1]).hash == hash then
      redis.call('HSET', KEYS[1], '=' .. hash, all[index])
    end
  end
end
if ARGV[2] then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2], '=' .. cjson.decode(ARGV[2]).hash, ARGV[1])
end
return 1
