-- Ends a conversation's management; from then on, conversations.default applies. If that is closed, the conversation
-- has no members, and all typing ends.
--
-- KEYS     1 typing:{CONVERSATION}: without a user, 2 typing:{CONVERSATION}, 3 members:{CONVERSATION}; 2 and 3 are
--          also the channels
-- ARGV[1]  conversations.default
-- Reply    TIME

redis.call('DEL', KEYS[3])
redis.call('PUBLISH', KEYS[3], '{"reset":true}')
if ARGV[1] == 'closed' then
  end_typing_unless(function() return false end)
end
return now
