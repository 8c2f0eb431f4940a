-- Removes a user's entries from the stream of events but the newest of status, which says that the user is offline: one step of
-- at most 1,000 entries, from the newest on.
--
-- KEYS[1]  events
-- ARGV     1 user, 2 the ID from which to go on ("+" at first), 3 1 if the newest entry of the user's status was met, otherwise 0
-- Reply    { the ID from which to go on, or empty at the end; 1 or 0 for the next call }

local met, last, gone = ARGV[3] == '1', false, {}
for _, entry in ipairs(redis.call('XREVRANGE', KEYS[1], ARGV[2], '-', 'COUNT', 1000)) do
  last = entry[1]
  local fields = {}
  for i = 1, #entry[2], 2 do fields[entry[2][i]] = entry[2][i + 1] end
  if fields.user == ARGV[1] then
    if met or fields.type then gone[#gone + 1] = last end
    met = met or not fields.type
  end
end
if #gone > 0 then redis.call('XDEL', KEYS[1], unpack(gone)) end
return { last and '(' .. last or '', met and 1 or 0 }
