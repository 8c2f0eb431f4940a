-- A worker's claim to be alive, and what it learns of the others' for it.
--
-- KEYS     1 {workers}, 2 {workers}:INCARNATION
-- ARGV     1 mode, 2 incarnation, 3 milliseconds from now to the end of the lease, 4… fields and values of the hash
--          begin: a first lease, refused if the incarnation is known · renew: refused if the lease has passed
--          end: as renew, and the last of this incarnation
-- Reply    { 1 if held, 0 if refused; TIME; each incarnation and the end of its lease, one after the other }

local mode, incarnation, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])

-- Changes nothing, and is permitted at maxmemory; after it, so is all that a script does.
redis.call('ZREM', KEYS[1], '')

local ends = {} -- of the lease of each incarnation
local stored = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for i = 1, #stored, 2 do ends[stored[i]] = tonumber(stored[i + 1]) end

-- When a lease was renewed last: at the beat in the worker's hash; nil where that is missing.
local function renewed(name)
  local beat = redis.pcall('HGET', KEYS[1] .. ':' .. name, 'beat')
  return type(beat) == 'string' and tonumber(beat) or nil
end

-- Redis's clock may have been set back since the last heartbeat. Leases then end as late as the clock says, and the dead
-- would live on until it is there again. All leases were renewed before that, and are moved back by as much as the
-- clock, which is known from the latest beat: those too that had passed, or they would be good again. Without a step no
-- lease ends later than this one will, or it is a longer one. One without a beat tells nothing of the clock.
local back = 0
for name, moment in pairs(ends) do
  if moment > now + lease and moment < math.huge then back = math.max(back, (renewed(name) or now) - now) end
end
if back > 0 then
  for name, moment in pairs(ends) do
    if moment < math.huge then
      local beat = renewed(name)
      ends[name] = moment - back
      redis.call('ZADD', KEYS[1], whole(ends[name]), name)
      if beat then redis.pcall('HSET', KEYS[1] .. ':' .. name, 'beat', whole(beat - back)) end
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
  -- First the hash: where it is none, the lease is not renewed, and the worker goes on under another name.
  redis.call('HSET', KEYS[2], 'beat', whole(now), unpack(ARGV, 4))
  ends[incarnation] = now + lease
  redis.call('ZADD', KEYS[1], whole(ends[incarnation]), incarnation)
end

local reply = { held and 1 or 0, now }
for name, moment in pairs(ends) do
  reply[#reply + 1] = name
  reply[#reply + 1] = whole(moment)
end
return reply
