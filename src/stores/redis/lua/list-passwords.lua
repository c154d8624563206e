--[[
Lists the application passwords of one user.

KEYS[1]  hash: id to JSON
Returns  the JSON of each
]]
return redis.call('HVALS', KEYS[1])
