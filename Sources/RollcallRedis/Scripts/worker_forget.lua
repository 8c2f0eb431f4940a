-- Deletes a dead incarnation after its sessions were swept.
--
-- KEYS     1 {workers}, 2 {workers}:INCARNATION
-- ARGV[1]  incarnation
-- Reply    1, or 0 if its lease has not expired

local ends = redis.call('ZSCORE', KEYS[1], ARGV[1])
if ends and tonumber(ends) >= now then return 0 end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('DEL', KEYS[2])
return 1
