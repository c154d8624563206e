--[[
Checks whether a user has a password with a given hash. Takes the same time for any number of passwords.

KEYS[1]  hash: <id> has a password as JSON; '=<hash>' has its id
ARGV[1]  hash of the password
Returns  1, or 0 if there is none
]]
return redis.call('HEXISTS', KEYS[1], '=' .. ARGV[1])
