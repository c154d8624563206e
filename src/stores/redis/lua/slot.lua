--[[
Opens the sessions of one user. Stands before each script that works on them.

KEYS[1]  hash: the sessions of one user
  v          version, base 36; grows with every change of the set, and faster than the clock in milliseconds
  <name>     one session; name: the first 64 bits of the token, 11 characters of base64url
             value: admitted,seen,ttl,generation,<type><session id>
               admitted    sequence, which is also the time of login in ms
               seen        ms from login to the last use
               ttl         ms from the last use to expiry
               generation  logout generation at login
               type        s or n: the user id is a string or a number
             the first four in base 36
  i<name>    length of the address in base 36, a comma, the address, and the encoded user agent of a session
  ~<name>    a session that ended a short while ago; value: until when it is remembered, ms, base 36

Time is the server's. Expired sessions are dropped whenever the set is opened for a change.
]]
local key = KEYS[1]
local ENDED_MEMORY_MS = 600000
local ENDED_MEMORY_COUNT = 32

local function server_time()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local now = server_time()

local DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz'
local function base36(number)
  local text = ''
  repeat
    local digit = number % 36
    text = string.sub(DIGITS, digit + 1, digit + 1) .. text
    number = (number - digit) / 36
  until number == 0
  return text
end

local function parse(value)
  local admitted, seen, ttl, rest = string.match(value, '^(%w+),(%w+),(%w+),(.*)$')
  return tonumber(admitted, 36), tonumber(seen, 36), tonumber(ttl, 36), rest
end

local function expiry(value)
  local admitted, seen, ttl = parse(value)
  return admitted + seen + ttl
end

local slot

local function drop(name)
  slot.sessions[name] = nil
  redis.call('HDEL', key, name, 'i' .. name)
end

--[[ Reads everything and drops what has expired. ]]
local function open()
  slot = { version = '0', sessions = {}, infos = {}, ended = {} }
  local all = redis.call('HGETALL', key)
  for index = 1, #all, 2 do
    local field, value = all[index], all[index + 1]
    local first = string.sub(field, 1, 1)
    if field == 'v' then
      slot.version = value
    elseif #field == 11 then
      slot.sessions[field] = value
    elseif first == '~' then
      slot.ended[string.sub(field, 2)] = tonumber(value, 36)
    else
      slot.infos[string.sub(field, 2)] = value
    end
  end
  for name, value in pairs(slot.sessions) do
    if expiry(value) <= now then drop(name) end
  end
  for name, untilTime in pairs(slot.ended) do
    if untilTime <= now then
      slot.ended[name] = nil
      redis.call('HDEL', key, '~' .. name)
    end
  end
end

--[[ Moves the version on and returns it; it serves as the sequence of a session that is admitted now. ]]
local function advance()
  local version = math.max(tonumber(slot.version, 36) + 1, now)
  slot.version = base36(version)
  redis.call('HSET', key, 'v', slot.version)
  return version
end

--[[ Ends a session, appends it to `list` as name, value, info, and remembers it for a while. ]]
local function finish(name, list)
  local value = slot.sessions[name]
  if not value then return end
  list[#list + 1] = name
  list[#list + 1] = value
  list[#list + 1] = slot.infos[name] or ''
  drop(name)
  slot.ended[name] = now + ENDED_MEMORY_MS
  redis.call('HSET', key, '~' .. name, base36(slot.ended[name]))
end

local function admit(name, ttl, rest, info)
  local value = base36(advance()) .. ',0,' .. ttl .. ',' .. rest
  slot.sessions[name] = value
  redis.call('HSET', key, name, value, 'i' .. name, info)
  return value
end

--[[ Forgets the longest ended beyond the limit, and lets the key live as long as anything in it. ]]
local function close()
  local names = {}
  for name in pairs(slot.ended) do names[#names + 1] = name end
  table.sort(names, function(a, b) return slot.ended[a] > slot.ended[b] end)
  for index = ENDED_MEMORY_COUNT + 1, #names do redis.call('HDEL', key, '~' .. names[index]) end

  local latest = names[1] and slot.ended[names[1]] or now
  for _, value in pairs(slot.sessions) do latest = math.max(latest, expiry(value)) end
  redis.call('PEXPIREAT', key, string.format('%.0f', latest))
end
