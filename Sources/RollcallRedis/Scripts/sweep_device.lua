-- Takes a device of a dead incarnation offline. Checks first that the device still belongs to that incarnation and
-- session: a later session, on any worker, is not changed.
--
-- KEYS     1 presence:{USER}, also the channel, 2 events (absent: events are off)
-- ARGV     1 user, 2 device, 3 its incarnation, 4 the session's RANDOM, 5 the incarnation's last beat (0: unknown),
--          6 the sweeper's write deadline, 7 retention in milliseconds, 8 how many events to keep
-- Reply    { code, TIME, version }
--          swept: changed and published · kept: the device has another session or is gone
--          expired: the deadline has passed (only TIME)

local user, name, incarnation, random = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local beat, deadline, retention = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]

-- This write changes nothing and is allowed at maxmemory. Redis then allows all further writes of the script.
redis.call('HDEL', KEYS[1], '')

if now > deadline then return { 'expired', now } end

local record = read_record()
local device = record.devices[name]
if not device or device.state == 'gone' or device.incarnation ~= incarnation or device.random ~= random then
  return { 'kept', now, record.version }
end

local last_seen, told = seen(device, not_ahead(beat)), tells(device)
-- SESSION and SEQ are kept: if the session's worker is still running, the session's next decision restores the device.
device.state, device.since = 'gone', now
local events = { stream = KEYS[2], keep = ARGV[8] }
return { 'swept', now, write_record(record, user, name, device, told, last_seen, retention, events) }
