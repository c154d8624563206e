--[[
Checks whether a user has a password with a given hash, in a time that does not depend on how many there are.

KEYS[1]  hash: id to JSON; '=<hash>' to id; '#' once all passwords can be found by their hash
ARGV[1]  hash of the password
Returns  1, or 0 if there is none
]]
if not redis.call('HGET', KEYS[1], '#') then
  -- Written by a version that did not store fields for the hashes.
  local all = redis.call('HGETALL', KEYS[1])
  for index = 1, #all, 2 do
    if not string.match(all[index], '^[=#]') then
      redis.call('HSET', KEYS[1], '=' .. cjson.decode(all[index + 1]).hash, all[index], '#', '1')
    end
  end
end
return redis.call('HEXISTS', KEYS[1], '=' .. ARGV[1])
