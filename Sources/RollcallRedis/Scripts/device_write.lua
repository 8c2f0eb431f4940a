-- Writes one decision of a device's session: its state, the loss of its connection, or that it is gone. The order of
-- sessions determines whether the decision takes effect. Derives the user's presence from all of the user's devices.
--
-- KEYS     1 presence:{USER}, also the channel, 2 revoked:{USER}, 3 person:{USER}, 4 events (absent: events are off)
-- ARGV     1 user, 2 device, 3 state (active, idle, background, gone), 4 incarnation,
--          5 the session's RANDOM, 6 its MS (empty if no write of it was acknowledged yet),
--          7 milliseconds since its connection was opened, 8 SEQ,
--          9 LOST (0 if connected; if the state is gone, until when the user was present, 0 to derive it from the
--          stored state),
--          10 the write deadline, 11 retention in milliseconds,
--          12 when its connection was opened, by the worker's estimate of Redis time: a write that was delayed does
--          not make the session younger, 13 when its token was issued (empty: it needs none),
--          14 the time by the clock of the worker's host, 15 1 while the worker waits for all to write again what Redis
--          may have lost in an outage,
--          16 how many events to keep, 17 when the last reset was, as the worker's lease knows it,
--          18 the revision of the user's person, as the worker knows it (empty: it knows none),
--          19… what the session's token says of the user: fields of PROFILE, each with its text
-- Reply    { code, TIME, MS, version, revision of the user's person (0: none), incarnation and session (MS-RANDOM) that were
--          replaced }
--          written: changed and published · done: the same decision was written before
--          late: a later decision of the session was written before
--          replaced: the record has a newer session of the device (MS is null, and nothing was replaced)
--          expired: the deadline has passed (only TIME)
--          revoked: the user's tokens were revoked after this one was issued (TIME, and how many milliseconds ago)

local user, name, state, incarnation, random = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local began, age, sequence = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local lost, deadline, retention = not_ahead(tonumber(ARGV[9])), tonumber(ARGV[10]), ARGV[11]

-- This write changes nothing and is allowed at maxmemory. Redis then allows all further writes of the script.
redis.call('HDEL', KEYS[1], '')

if now > deadline then return { 'expired', now } end

local record = read_record()
local old = record.devices[name]
local same = old and old.random == random
-- Whether Redis may have returned to older data since a write of this session was acknowledged, or one of a session before
-- it: others may have seen what it has forgotten, and the write has to tell them even if the device is in the background now
-- as it was then.
local went_back = ARGV[15] == '1' or began and not (same and old.incarnation == incarnation)

-- A revocation is stored before the record is read to find sessions. A session is either in the record, and is ended,
-- or is written later, and is refused here. The session that holds the device may remove it with a revoked token; no
-- other session may.
local issued = tonumber(ARGV[13])
if issued and not (same and state == 'gone') then
  local revoked = redis.pcall('GET', KEYS[2]) -- an error: it is no string, and nobody's revocation
  revoked = number(revoked)
  -- A revocation ahead of the clocks was dated by a clock that was ahead, or that was set back since. It would refuse
  -- all tokens until that time; from now on, it refuses those issued until now. It has to be ahead of Redis's clock as
  -- well: this host's clock may be behind, and would make revoked tokens valid again on all workers.
  local present = math.max(tonumber(ARGV[14]) or now, now)
  if revoked > present then
    revoked = present
    redis.call('SET', KEYS[2], whole(revoked), 'KEEPTTL')
  end
  if issued < revoked then return { 'revoked', now, present - revoked } end
end

if same then
  if sequence == old.sequence then return { 'done', now, old.began, record.version, record.person } end
  if sequence < old.sequence then return { 'late', now, old.began, record.version, record.person } end
  began = began or old.began
elseif not began then
  began = math.min(now - age, tonumber(ARGV[12]))
  -- If two sessions began in the same millisecond and counted as equal, each would take the device back from the other.
  if old and began == old.began then began = began + 1 end
end

-- Whether this session began before the stored one. A start in the future is from before Redis's clock was set back; the
-- age is measured by the worker's monotonic clock and stays correct. If the stored session had started by now by the
-- clock that dated this one, both starts are by that clock, and are compared. Two that began in the same millisecond may
-- be one millisecond ahead.
local function is_older()
  if old.began > now + 1 then return old.began <= began + age and began < old.began end
  return math.min(began, now + 1 - age) < old.began
end
if not same and old and is_older() then return { 'replaced', now, false, record.version, record.person } end

local device = {
  state = state, incarnation = incarnation, began = began, random = random, sequence = sequence,
  since = now, lost = lost, rest = '',
}
local last_seen = seen(device, now)
local previous_incarnation, previous_session = false, false
if old then
  device.rest = old.rest
  if old.state == state and state ~= 'gone' then device.since = old.since end
  -- A session that reports the loss of its connection was present until then. A replaced session was present until now.
  last_seen = math.max(last_seen, seen(old, same and lost ~= 0 and lost or now))
  if not same and old.state ~= 'gone' then
    previous_incarnation, previous_session = old.incarnation, whole(old.began) .. '-' .. old.random
  end
end

-- A record that is new, or that Redis has lost, is never to be seen without what its user has decided.
if record.version == 0 then raise_person(record, number(redis.pcall('HGET', KEYS[3], 'revision'))) end
raise_person(record, number(ARGV[18]))
take_profile(record, issued or began, ARGV, 19)
local version = write_record(record, user, name, device, tells(old) or went_back, last_seen, retention,
  { stream = KEYS[4], keep = ARGV[16], reset = tonumber(ARGV[17]) })
return { 'written', now, began, version, record.person, previous_incarnation, previous_session }
