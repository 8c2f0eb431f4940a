-- Erases a user's record, and tells the observers that there is nothing. It looks whether a session is left: its
-- worker would write again what it holds.
--
-- KEYS     1 presence:{USER}, also the channel
-- ARGV     1 user, 2… incarnations that are dead, whose devices are no session's
-- Reply    1, or 0 if a device of another is not gone; then nothing is erased

local record, dead = read_record(), {}
for i = 2, #ARGV do dead[ARGV[i]] = true end
for _, device in pairs(record.devices) do
  if device.state ~= 'gone' and not dead[device.incarnation] then return 0 end
end
redis.call('DEL', KEYS[1])
tell(ARGV[1], 'offline', 'null', math.max(record.version + 1, now), 0)
return 1
