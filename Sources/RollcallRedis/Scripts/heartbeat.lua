-- Claims, renews or ends a worker's lease, and returns all leases.
--
-- KEYS     1 {workers}, 2 {workers}:INCARNATION, 3 events, 4 events:state (both absent: events are off)
-- ARGV     1 mode, 2 incarnation, 3 milliseconds from now to the end of the lease, 4… fields and values of the hash
--          begin: a first lease, refused if the incarnation exists · renew: refused if the lease has expired
--          end: as renew, and the last of this incarnation
-- Reply    { 1 if held, 0 if refused; TIME; at the begin when the last reset of the events was, otherwise 0; why Redis refuses to
--          append events, or empty; each incarnation, followed by the end of its lease }

local mode, incarnation, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])

-- This write changes nothing and is allowed at maxmemory. Redis then allows all further writes of the script.
redis.call('ZREM', KEYS[1], '')

local ends = {} -- of the lease of each incarnation
local stored = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for i = 1, #stored, 2 do ends[stored[i]] = tonumber(stored[i + 1]) end

-- A lease is from the future if its worker's last beat is: Redis's clock was set back. It then ends its own length from
-- now. Without a step, a lease that ends later than this one will is simply a longer lease.
for name, moment in pairs(ends) do
  if moment > now + lease and moment < math.huge then
    local hash = KEYS[1] .. ':' .. name
    local beat = redis.pcall('HGET', hash, 'beat') -- an error: it is no hash, and says nothing of a worker
    beat = type(beat) == 'string' and tonumber(beat) or now
    if beat > now then
      ends[name] = now + moment - beat
      redis.call('ZADD', KEYS[1], whole(ends[name]), name)
      redis.call('HSET', hash, 'beat', whole(now))
    end
  end
end

local held
if mode == 'begin' then
  held = not ends[incarnation] and redis.call('EXISTS', KEYS[2]) == 0
else
  held = ends[incarnation] and ends[incarnation] >= now
end

if held then
  -- Writes the hash first: if its key has another type, this fails, the lease is not renewed, and the worker goes on
  -- under another name.
  redis.call('HSET', KEYS[2], 'beat', whole(now), unpack(ARGV, 4))
  ends[incarnation] = now + lease
  redis.call('ZADD', KEYS[1], whole(ends[incarnation]), incarnation)
end

-- A reset tells readers of the events to read again whom they hold to be there. It is due
-- - at a begin: once after each time in which Redis may have lost data, for which its run stands; while a living worker appends
--   none; and if no other lives that does. Where a script may not ask for the run, at each begin.
-- - at any heartbeat: once no living worker is left of those that append none, and once Redis takes entries again.
-- A foreign key costs the reset, and nothing else.
local function text(key, field)
  local value = redis.pcall('HGET', key, field)
  return type(value) == 'string' and value or nil
end

local function others()
  local silent, appending = false, false
  for name, moment in pairs(ends) do
    if name ~= incarnation and moment >= now then
      if text(KEYS[1] .. ':' .. name, 'events') then appending = true else silent = true end
    end
  end
  return silent, appending
end

local reset, refused = 0, ''
if KEYS[3] and held then
  local silent, appending = others()
  if silent then redis.pcall('HSET', KEYS[4], 'mixed', '1') end
  local is_due = text(KEYS[4], 'refused') or not silent and text(KEYS[4], 'mixed')
  if mode == 'begin' then
    local info = redis.pcall('INFO', 'server')
    local run = type(info) == 'string' and string.match(info, 'run_id:(%x+)') or ''
    if run == '' or text(KEYS[4], 'run') ~= run or silent or not appending then
      redis.pcall('HSET', KEYS[4], 'run', run, 'reset', whole(now))
      is_due = true
    end
    reset = number(text(KEYS[4], 'reset'))
  end
  if is_due and append_reset(KEYS[3]) then
    redis.pcall('HDEL', KEYS[4], 'refused')
    if not silent then redis.pcall('HDEL', KEYS[4], 'mixed') end
  end
  refused = text(KEYS[4], 'refused') or ''
end

local reply = { held and 1 or 0, now, reset, refused }
for name, moment in pairs(ends) do
  reply[#reply + 1] = name
  reply[#reply + 1] = whole(moment)
end
return reply
