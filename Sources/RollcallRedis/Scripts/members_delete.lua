-- Ends a conversation's management. From then on each session's own right decides: its worker reads the conversation
-- again, and ends the typing of those that may no longer be there.
--
-- KEYS[1]  members:{CONVERSATION}, also the channel
-- Reply    TIME

redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[1], '{"reset":true}')
return now
