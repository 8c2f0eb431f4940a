-- One decision of a device's session: its state, the loss of its connection, or that it is gone. Decides by the order
-- of sessions whether it counts, and derives the user's presence from all of the user's devices.
--
-- KEYS     1 presence:{USER}, also the channel, 2 revoked:{USER}
-- ARGV     1 user, 2 device, 3 state (active, idle, background, gone), 4 incarnation,
--          5 the session's RANDOM, 6 its MS (empty if no write of it was acknowledged yet),
--          7 how long ago its connection was opened, 8 SEQ,
--          9 LOST (0: connected; where the state is gone, when somebody was last there, 0: as far as is known now),
--          10 until when this may be written, 11 retention (7, 11: milliseconds),
--          12 when its connection was opened, as the worker reckons Redis time: this may have been long on its way, and
--          makes the session no younger, 13 when its token was issued (empty: it needs none),
--          14 how many milliseconds ahead 10 can lie (empty: any),
--          15 what the clock of the worker's host says, with which tokens are judged
-- Reply    { code, TIME, MS, version, incarnation and session (MS-RANDOM) that were taken over }
--          written: done, and published · done: was done before · late: a later decision of the session stands
--          replaced: a newer session of the device stands (both last are null) · expired: too late (only TIME)
--          revoked: the user's tokens were, since this one was issued (only TIME)

local user, name, state, incarnation, random = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local began, age, sequence = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local lost, deadline, retention = not_ahead(tonumber(ARGV[9])), tonumber(ARGV[10]), ARGV[11]

-- Changes nothing, and is permitted at maxmemory; after it, so is all that a script does.
redis.call('HDEL', KEYS[1], '')

if is_too_late(deadline, ARGV[14]) then return { 'expired', now } end

local record = read_record()
local old = record.devices[name]
local same = old and old.random == random

-- Whoever revokes reads the record afterwards: a session is in it, and sent away, or comes here later, and is refused.
-- That its device is gone may be said with any token by the session that has it, and by no other.
local issued = tonumber(ARGV[13])
if issued and not (same and state == 'gone') then
  local revoked = redis.pcall('GET', KEYS[2]) -- an error: it is no string, and nobody's revocation
  revoked = type(revoked) == 'string' and tonumber(revoked) or 0
  -- A revocation ahead of the host's clock was dated by one that was ahead, or was set back since. It would refuse every
  -- token until that moment: from here on it refuses those issued until now.
  -- Ahead of Redis's clock, too: this host's may be behind, and would let tokens count again on every worker.
  local present = math.max(tonumber(ARGV[15]) or now, now)
  if revoked > present then
    revoked = present
    redis.call('SET', KEYS[2], whole(revoked), 'KEEPTTL')
  end
  if issued < revoked then return { 'revoked', now } end
end

if same then
  if sequence == old.sequence then return { 'done', now, old.began, record.version } end
  if sequence < old.sequence then return { 'late', now, old.began, record.version } end
  began = began or old.began
elseif not began then
  began = math.min(now - age, tonumber(ARGV[12]))
  -- Two sessions that began in one millisecond: were they equal, each would take the device back from the other.
  if old and began == old.began then began = began + 1 end
end

-- Whether this session began before the one that is stored. Clocks are set: what a worker's own clock says of the age of
-- its session stays right.
local function is_older()
  if old.began > now + 1 then -- by one millisecond it may be ahead, where two began in the same
    -- The stored session began before the clock was set back. So did this one if, by the clock as it was, the stored
    -- session has begun by now; otherwise this one began later.
    return old.began <= began + age and began < old.began
  end
  return math.min(began, now + 1 - age) < old.began
end
if not same and old and is_older() then return { 'replaced', now, false, record.version } end
if began > now + 1 then began = now - age end -- it is dated anew

local device = {
  state = state, incarnation = incarnation, began = began, random = random, sequence = sequence,
  since = now, lost = lost, rest = '',
}
local last_seen = seen(device, now)
local previous_incarnation, previous_session = false, false
if old then
  device.rest = old.rest
  if old.state == state and state ~= 'gone' then device.since = old.since end
  -- A session that says when it was lost was there until then; another's was there until this one took over.
  last_seen = math.max(last_seen, seen(old, same and lost ~= 0 and lost or now))
  if not same and old.state ~= 'gone' then
    previous_incarnation, previous_session = old.incarnation, whole(old.began) .. '-' .. old.random
  end
end

local version = write_record(record, user, name, device, last_seen, retention)
return { 'written', now, began, version, previous_incarnation, previous_session }
