--[[
Tells whether a user has an application password, by its hash. Takes as long for one password as for many, and for none.

KEYS[1]  hash: id to JSON; '=<hash>' to id; '#' once every password is found by its hash
ARGV[1]  hash of the password
Returns  1, or 0 when there is none
]]
if not redis.call('HGET', KEYS[1], '#') then
  -- Written before there were fields for the hashes.
  local all = redis.call('HGETALL', KEYS[1])
  for index = 1, #all, 2 do
    if not string.match(all[index], '^[=#]') then
      redis.call('HSET', KEYS[1], '=' .. cjson.decode(all[index + 1]).hash, all[index], '#', '1')
    end
  end
end
return redis.call('HEXISTS', KEYS[1], '=' .. ARGV[1])
