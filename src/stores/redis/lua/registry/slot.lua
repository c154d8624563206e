--[[
Reads and changes the sessions of one user. Prepended to each script that uses it.

KEYS[1]  hash: the sessions of one user
  v          version, hexadecimal; increases with every change to the set, at least to the clock in milliseconds
  <name>     one session; name: the first 64 bits of the token, 11 characters of base64url
             value: admitted,seen,ttl,generation<type><session id>
               admitted    sequence, which is also the time of login in ms
               seen        ms from login to the last use
               ttl         ms from the last use to expiry
               generation  logout generation at login
               type        s or n: the user id is a string or a number
             the first four are hexadecimal; the value usually fits into 64 bytes, the limit for Redis's compact hashes
  i<name>    address, device and user agent of a session:
             <length of the address, hexadecimal>[.<device>],<address><user agent>
  r:<name>   the refresh token of a session, missing before the first rotation; value: number, time of the last rotation
             in ms, then for one or two bursts of rotations the first number presented and its time in ms; all
             hexadecimal, separated by commas
  ~<name>    a session that ended recently; value: until when it is remembered, in ms, hexadecimal
  x          the mark that all sessions were ended; value: until when no unknown session is adopted, in ms, hexadecimal

All times are by the server's clock. Opening the set for a change removes expired and damaged sessions. If the
clock was set back, it also moves times in the future to now.
]]
local key = KEYS[1]
local ENDED_MEMORY_MS = 600000
local ENDED_MEMORY_COUNT = 32
local ENDED_MEMORY_SLACK = 8
local MARK_MS = 34560000000
local MOST_SESSIONS = 1000
local BATCH = 1000
local MOST_AHEAD_MS = 5000

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function hex(number)
  return string.format('%x', number)
end

--[[ Splits the value of a session into its parts. Returns nothing if the value is damaged. ]]
local function parse(value)
  local admitted, seen, ttl, rest = string.match(value, '^(%x+),(%x+),(%x+),(%x+[ns].*)$')
  if admitted then return tonumber(admitted, 16), tonumber(seen, 16), tonumber(ttl, 16), rest end
end

--[[ Returns when a session expires, or 0 if its value is damaged. ]]
local function expiry(value)
  local admitted, seen, ttl = parse(value)
  return admitted and admitted + seen + ttl or 0
end

--[[ Checks whether a session's last use is in the future, because the clock was set back. ]]
local function is_ahead(value)
  local admitted, seen = parse(value)
  return admitted and admitted + seen > now + MOST_AHEAD_MS
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
  drops[#drops + 1] = slot.rotations[name]
end

--[[ Moves times in the future to now, so that a clock that was ahead for a while extends no session. ]]
local function set_back()
  local names, ahead = {}, 0
  for name in pairs(slot.sessions) do names[#names + 1] = name end
  table.sort(names, function(a, b) return slot.admitted[a] < slot.admitted[b] end)
  for _, name in ipairs(names) do
    local admitted, seen, ttl, rest = parse(slot.sessions[name])
    if admitted + seen > now then
      -- Add 1 ms for each, to keep the order of the sessions.
      if admitted > now then
        ahead = ahead + 1
        admitted = now + ahead
      end
      seen = math.max(0, now - admitted)
      slot.sessions[name] = table.concat({ hex(admitted), hex(seen), hex(ttl), rest }, ',')
      slot.admitted[name], slot.expires[name] = admitted, admitted + seen + ttl
      slot.moved[#slot.moved + 1] = name
    end
  end
end

--[[ Reads the whole hash, and queues expired entries for removal. ]]
local function open()
  slot = { version = '0', count = 0, sessions = {}, infos = {}, rotations = {}, remembered = {}, admitted = {}, expires = {}, finished = {}, moved = {} }
  local all, has_ahead = redis.call('HGETALL', key), false
  for index = 1, #all, 2 do
    local field, value = all[index], all[index + 1]
    if field == 'v' then
      slot.version = value
    elseif field == 'x' then
      slot.mark = tonumber(value, 16) or now + MARK_MS
      if slot.mark <= now then slot.mark, drops[#drops + 1] = nil, field end
    elseif #field == 11 then
      local admitted, seen, ttl = parse(value)
      local expires = admitted and admitted + seen + ttl or 0
      if expires > now then
        has_ahead = has_ahead or admitted + seen > now + MOST_AHEAD_MS
        slot.sessions[field], slot.admitted[field], slot.expires[field] = value, admitted, expires
        slot.count = slot.count + 1
      else
        drop(field)
      end
    elseif string.byte(field) == 114 then
      slot.rotations[string.sub(field, 3)] = field
    elseif string.byte(field) == 126 then
      -- Only recall() parses the ended sessions, because most logins do not need them.
      slot.remembered[#slot.remembered + 1] = field
      slot.remembered[#slot.remembered + 1] = value
    else
      slot.infos[string.sub(field, 2)] = value
    end
  end
  -- The rotation of an expired session may come after the session.
  for name, field in pairs(slot.rotations) do
    if not slot.sessions[name] then drops[#drops + 1] = field end
  end
  if has_ahead then set_back() end
end

local function next_version(version)
  return hex(math.max((tonumber(version or '0', 16) or 0) + 1, now))
end

--[[ Increases the version and returns it. ]]
local function advance()
  slot.version = next_version(slot.version)
  put('v', slot.version)
  return slot.version
end

--[[ Ends a session, appends its name, value and info to `list`, and queues it to be remembered as ended. ]]
local function finish(name, list)
  local value = slot.sessions[name]
  if not value then return end
  list[#list + 1] = name
  list[#list + 1] = value
  list[#list + 1] = slot.infos[name] or ''
  drop(name)
  slot.count = slot.count - 1
  slot.finished[#slot.finished + 1] = name
end

--[[ Marks all sessions as ended, including those that are not registered yet. ]]
local function mark()
  slot.mark = now + MARK_MS
  put('x', hex(slot.mark))
end

--[[ Ends the oldest sessions beyond the maximum per user. ]]
local function bound(list)
  while slot.count > MOST_SESSIONS do
    local oldest
    for name in pairs(slot.sessions) do
      if not oldest or slot.admitted[name] < slot.admitted[oldest] then oldest = name end
    end
    finish(oldest, list)
  end
end

-- Returns the sequence of a session admitted now, which is also its time. The sequence is the new version, unless
-- versions are ahead because the clock was set back.
local function next_sequence()
  local version, newest = tonumber(advance(), 16), 0
  if version <= now + MOST_AHEAD_MS then return version end
  for _, admitted in pairs(slot.admitted) do newest = math.max(newest, admitted) end
  return math.max(now, newest + 1)
end

--[[ Registers a session, and appends to `list` the sessions that it ends to make room. ]]
local function admit(name, ttl, rest, info, list)
  local sequence = next_sequence()
  local value = hex(sequence) .. ',0,' .. ttl .. ',' .. rest
  if not slot.sessions[name] then slot.count = slot.count + 1 end
  slot.sessions[name], slot.admitted[name], slot.expires[name] = value, sequence, expiry(value)
  put(name, value)
  put('i' .. name, info)
  drops[#drops + 1] = slot.rotations[name]
  for index = 1, #slot.remembered, 2 do
    if slot.remembered[index] == '~' .. name then drops[#drops + 1] = slot.remembered[index] end
  end
  bound(list)
  return value
end

--[[ Returns 1 if keys were passed from index `first` on and none of them exists, otherwise 0. ]]
local function has_none(first)
  for index = first, #KEYS do
    if redis.call('GET', KEYS[index]) then return 0 end
  end
  return #KEYS >= first and 1 or 0
end

--[[ Calls a command with many fields, in batches that fit on Lua's stack. ]]
local function write(command, fields)
  for first = 1, #fields, BATCH do
    redis.call(command, key, unpack(fields, first, math.min(first + BATCH - 1, #fields)))
  end
end

--[[ Returns the names of the last `room` sessions that ended, and queues all others for removal. ]]
local function recall(room)
  local names, untils, recalled = {}, {}, {}
  for index = 1, #slot.remembered, 2 do
    local name = string.sub(slot.remembered[index], 2)
    names[#names + 1], untils[name] = name, tonumber(slot.remembered[index + 1], 16) or 0
  end
  table.sort(names, function(a, b) return untils[a] > untils[b] end)
  for index, name in ipairs(names) do
    if index <= room and untils[name] > now then recalled[name] = true else drops[#drops + 1] = '~' .. name end
  end
  return recalled
end

--[[ Remembers the last sessions that this call ended. Forgets older ones once there are too many. ]]
local function remember()
  local count = math.min(#slot.finished, ENDED_MEMORY_COUNT)
  for index = #slot.finished - count + 1, #slot.finished do
    put('~' .. slot.finished[index], hex(now + ENDED_MEMORY_MS))
  end
  local kept = ENDED_MEMORY_COUNT + ENDED_MEMORY_SLACK
  if count + #slot.remembered / 2 > kept then recall(ENDED_MEMORY_COUNT - count) end
end

--[[ Writes all changes, and keeps the key until the last of its entries expires. ]]
local function close()
  remember()
  for _, name in ipairs(slot.moved) do
    if slot.sessions[name] then put(name, slot.sessions[name]) end
  end
  write('HDEL', drops)
  write('HSET', puts)
  local latest = math.max(now, slot.mark or 0)
  if #slot.finished + #slot.remembered > 0 then latest = math.max(latest, now + ENDED_MEMORY_MS) end
  for name in pairs(slot.sessions) do latest = math.max(latest, slot.expires[name]) end
  redis.call('PEXPIREAT', key, string.format('%.0f', latest))
end
