--[[
Opens the sessions of one user. Stands before each script that works on them.

KEYS[1]  hash: the sessions of one user
  v          version, hexadecimal; grows with every change of the set, and faster than the clock in milliseconds
  <name>     one session; name: the first 64 bits of the token, 11 characters of base64url
             value: admitted,seen,ttl,generation<type><session id>
               admitted    sequence, which is also the time of login in ms
               seen        ms from login to the last use
               ttl         ms from the last use to expiry
               generation  logout generation at login
               type        s or n: the user id is a string or a number
             the first four in hexadecimal; as a rule all fits in the 64 bytes up to which Redis packs a small hash
  i<name>    address and user agent of a session
  ~<name>    a session that ended a short while ago; value: until when it is remembered, ms, hexadecimal

Time is the server's. Expired sessions are dropped whenever the set is opened for a change.
]]
local key = KEYS[1]
local ENDED_MEMORY_MS = 600000
local ENDED_MEMORY_COUNT = 32
local BATCH = 1000

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function hex(number)
  return string.format('%x', number)
end

local function parse(value)
  local admitted, seen, ttl, rest = string.match(value, '^(%x+),(%x+),(%x+),(.*)$')
  return tonumber(admitted, 16), tonumber(seen, 16), tonumber(ttl, 16), rest
end

local function expiry(value)
  local admitted, seen, ttl = parse(value)
  return admitted + seen + ttl
end

local slot
local puts, drops = {}, {}

local function put(field, value)
  puts[#puts + 1] = field
  puts[#puts + 1] = value
end

local function drop(name)
  slot.sessions[name] = nil
  drops[#drops + 1] = name
  drops[#drops + 1] = 'i' .. name
end

--[[ Reads everything and notes what has expired for removal. ]]
local function open()
  slot = { version = '0', sessions = {}, infos = {}, ended = {} }
  local all = redis.call('HGETALL', key)
  for index = 1, #all, 2 do
    local field, value = all[index], all[index + 1]
    if field == 'v' then
      slot.version = value
    elseif #field == 11 then
      if expiry(value) > now then slot.sessions[field] = value else drop(field) end
    elseif string.byte(field) == 126 then
      local name, remembered = string.sub(field, 2), tonumber(value, 16)
      if remembered > now then slot.ended[name] = remembered else drops[#drops + 1] = field end
    else
      slot.infos[string.sub(field, 2)] = value
    end
  end
end

--[[ Moves the version on and returns it; it serves as the sequence of a session that is admitted now. ]]
local function advance()
  slot.version = hex(math.max(tonumber(slot.version, 16) + 1, now))
  put('v', slot.version)
  return slot.version
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
  put('~' .. name, hex(slot.ended[name]))
end

local function admit(name, ttl, rest, info)
  local value = advance() .. ',0,' .. ttl .. ',' .. rest
  slot.sessions[name] = value
  put(name, value)
  put('i' .. name, info)
  return value
end

--[[ Calls a command with many fields, in parts that fit on the stack. ]]
local function write(command, fields)
  for first = 1, #fields, BATCH do
    redis.call(command, key, unpack(fields, first, math.min(first + BATCH - 1, #fields)))
  end
end

--[[ Writes all changes, forgets the longest ended beyond the limit, and lets the key live as long as anything in it. ]]
local function close()
  local names, latest = {}, now
  for name, remembered in pairs(slot.ended) do
    names[#names + 1] = name
    latest = math.max(latest, remembered)
  end
  write('HDEL', drops)
  write('HSET', puts)
  if #names > ENDED_MEMORY_COUNT then
    table.sort(names, function(a, b) return slot.ended[a] > slot.ended[b] end)
    for index = ENDED_MEMORY_COUNT + 1, #names do redis.call('HDEL', key, '~' .. names[index]) end
  end
  for _, value in pairs(slot.sessions) do latest = math.max(latest, expiry(value)) end
  redis.call('PEXPIREAT', key, string.format('%.0f', latest))
end
