--[[
Checks whether a user has a password with a given hash. Takes the same time for any number of passwords.

KEYS[1]  hash: <id> has a password as JSON; '=<hash>' has its id; '#' exists once all passwords have a '=<hash>' field
ARGV[1]  hash of the password
Returns  1, or 0 if there is none
]]
if not redis.call('HGET', KEYS[1], '#') then
  -- An earlier version stored these passwords without their '=<hash>' fields.
  local all = redis.call('HGETALL', KEYS[1])
  for index = 1, #all, 2 do
    if not string.match(all[index], '^[=#]') then
      redis.call('HSET', KEYS[1], '=' .. cjson.decode(all[index + 1]).hash, all[index], '#', '1')
    end
  end
end
return redis.call('HEXISTS', KEYS[1], '=' .. ARGV[1])
