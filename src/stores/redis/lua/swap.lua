--[[
Writes a row if its last write still has the expected name.

KEYS[1]  string: the names of the last writes, a space, and the text
ARGV[1]  the expected names; empty if there must be no row
ARGV[2]  the new string
ARGV[3]  lifetime in ms; empty if the row never expires
ARGV[4]  1 if the row must be written even if no memory is left, because sessions end by it
Returns  1, or 0 if there is another row
]]
-- Names have at most 64 characters, but the text may be long. A string written by hand has no names.
local row = redis.call('GETRANGE', KEYS[1], 0, 64)
if (string.match(row, '^([^ ]*) ') or '') ~= ARGV[1] then return 0 end
local write = { 'SET', KEYS[1], ARGV[2] }
if ARGV[3] ~= '' then write = { 'SET', KEYS[1], ARGV[2], 'PX', ARGV[3] } end
local done = redis.pcall(unpack(write))
if done.err then
  if ARGV[4] == '' or not string.match(done.err, 'OOM') then return done end
  -- After a deletion, Redis refuses no write of a script.
  redis.call('DEL', KEYS[1])
  redis.call(unpack(write))
end
return 1
