--[[
Records that a session was used, and may postpone its expiry. Uses slot.lua.
Given a refresh token, also rotates it, or changes nothing if the token is older than the current one.

KEYS[1]  hash: the sessions of one user
ARGV[1]  name of the session
ARGV[2]  ttl in ms, hexadecimal; empty if the expiry stays
ARGV[3]  how many ms the stored times may be out of date, hexadecimal
ARGV[4]  number of the refresh token that the client has sent, hexadecimal; missing if there is none
ARGV[5]  how many ms a token stays valid after its first use, hexadecimal
Returns  1, or 0 if the session is not registered; with a token, 'rotated', 'repeated' or 'reused', then number and time
         in ms of the current token, hexadecimal
]]
local value = redis.call('HGET', key, ARGV[1])
if not value or expiry(value) <= now then return 0 end
if is_ahead(value) then
  open()
  close()
  value = redis.call('HGET', key, ARGV[1])
end
local admitted, before, life, rest = parse(value)
local seen, ttl, fresh = math.max(0, now - admitted), tonumber(ARGV[2], 16), tonumber(ARGV[3], 16)
ttl = ttl or math.max(1, before + life - seen)
local answer, token = 1, {}
if ARGV[4] then
  local field, presented, grace = 'r:' .. ARGV[1], tonumber(ARGV[4], 16), tonumber(ARGV[5], 16)
  local stored, parts = redis.call('HGET', key, field) or '', {}
  if string.match(stored, '^%x+,%x+,%x+,%x+[%x,]*$') then
    for part in string.gmatch(stored, '%x+') do parts[#parts + 1] = tonumber(part, 16) end
  end
  local number, at, first, began, earlier, earlier_began = unpack(parts)
  -- A rotation counts as a use. If its time is after the last use, the clock was set back in between.
  local function since(time) return now - math.min(time, admitted + before) end
  number, at = number or 0, math.min(at or admitted, admitted + before)
  if presented < number then
    local function is_within(from, time) return from and presented >= from and since(time) < grace end
    local is_repeated = is_within(number - 1, at) or is_within(first, began) or is_within(earlier, earlier_began)
    return { is_repeated and 'repeated' or 'reused', hex(number), hex(at) }
  end
  answer = { 'rotated', hex(presented + 1), hex(admitted + seen) }
  -- Two bursts are kept, so that each token can be repeated for at least half the grace period.
  local bursts = { first, began, earlier, earlier_began }
  if not first or since(began) >= grace / 2 then bursts = { presented, admitted + seen, first, began } end
  for index, part in ipairs(bursts) do bursts[index] = hex(part) end
  token = { field, answer[2] .. ',' .. answer[3] .. ',' .. table.concat(bursts, ',') }
elseif seen - before < fresh and math.abs(seen + ttl - before - life) < fresh then
  -- Skip the write: Redis would report it to every process that watches the key, and each would read the key again.
  return 1
end
redis.call('HSET', key, ARGV[1], hex(admitted) .. ',' .. hex(seen) .. ',' .. hex(ttl) .. ',' .. rest, unpack(token))
if redis.call('PTTL', key) < ttl then redis.call('PEXPIRE', key, string.format('%.0f', ttl)) end
return answer
