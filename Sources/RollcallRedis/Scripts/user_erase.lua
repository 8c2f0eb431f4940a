-- Erases a user's record and person, and publishes the user as offline. Refuses if a session exists, because its worker would
-- write the record again.
--
-- KEYS     1 presence:{USER}, also the channel, 2 person:{USER}, 3 events (absent: events are off)
-- ARGV     1 user, 2 how many events to keep, 3… dead incarnations, whose devices have no session
-- Reply    1, or 0 if an incarnation that is not dead has a device that is not gone; then nothing is erased

local record, dead = read_record(), {}
for i = 3, #ARGV do dead[ARGV[i]] = true end
for _, device in pairs(record.devices) do
  if device.state ~= 'gone' and not dead[device.incarnation] then return 0 end
end
redis.call('DEL', KEYS[1], KEYS[2])
local version = math.max(record.version + 1, now)
tell(ARGV[1], 'offline', 'null', version, 0, {}, 'null')
if KEYS[3] and record.status ~= 'offline' then append_status(KEYS[3], ARGV[2], ARGV[1], 'offline', version, 0) end
return 1
