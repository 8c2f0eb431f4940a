-- Shared by scripts that read when typing ends, after time.lua.

-- Returns the latest time at which typing can end. It allows twice `typing.expiry`, because workers may have different
-- configurations. A later score is from before Redis's clock was set back, and does not count.
local function latest_end(longest)
  return now + 2 * longest
end
