-- Shared by what reads when typing ends, after time.lua.

-- The latest moment at which typing can end, with twice `typing.expiry` since workers may be configured differently. A
-- score beyond it is from before Redis's clock was set back, and does not count.
local function latest_end(longest)
  return now + 2 * longest
end
