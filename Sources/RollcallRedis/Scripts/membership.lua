-- Shared by scripts that read memberships; `members` is the key members:{CONVERSATION}.

-- Returns whether the conversation is managed, whether the user is on its list, and the user's display name, if there is
-- one.
local function membership(members, user)
  local found = redis.call('HMGET', members, '{managed}', user)
  return found[1] ~= false, found[2] ~= false, found[2] and found[2] ~= '' and found[2] or nil
end

-- Returns the number of members of a managed conversation.
local function member_count(members)
  return redis.call('HLEN', members) - 1
end
