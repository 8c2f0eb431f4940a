-- Takes offline a device that a dead incarnation left behind. It looks again whether the device is still that
-- incarnation's and of that session: what came since, to whichever worker, stays.
--
-- KEYS[1]  presence:{USER}, also the channel
-- ARGV     1 user, 2 device, 3 the dead incarnation, 4 the session's RANDOM, 5 the incarnation's last beat (0: not
--          known), 6 until when the sweeper may write, 7 retention in milliseconds, 8 how many milliseconds ahead 6 can lie
--          (empty: any)
-- Reply    { code, TIME, version }
--          swept: done, and published · kept: nothing here is that session's, or it is gone · expired: too late

local user, name, incarnation, random = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local beat, deadline, retention = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]

-- Changes nothing, and is permitted at maxmemory; after it, so is all that a script does.
redis.call('HDEL', KEYS[1], '')

if is_too_late(deadline, ARGV[8]) then return { 'expired', now } end

local record = read_record()
local device = record.devices[name]
if not device or device.state == 'gone' or device.incarnation ~= incarnation or device.random ~= random then
  return { 'kept', now, record.version }
end

local last_seen = seen(device, not_ahead(beat))
-- SESSION and SEQ stay: if its worker was only fenced, the next decision of this same session brings it back.
device.state, device.since = 'gone', now
return { 'swept', now, write_record(record, user, name, device, last_seen, retention) }
