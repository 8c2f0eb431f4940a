// Commands that show the same in Redis.

import { make } from "../parts.js";

/** Lists the commands, each with a button that copies it. */
export function listCommands(list, { redis }, conversation) {
  const cli = `redis-cli -p ${redis.port}`;
  list.append(
    command(`${cli} PSUBSCRIBE 'typing:*' 'presence:*'`, "every change, as it is published"),
    command(`${cli} TTL 'typing:{${conversation}}:alice'`, "how long Alice’s typing still lasts"),
    command(`${cli} HGETALL 'presence:{alice}'`, "Alice’s presence, and her devices"),
    command(`${cli} ZRANGE '{workers}' 0 -1 WITHSCORES`, "the workers, and when their leases end"));
}

function command(text, explanation) {
  const item = make("li");
  const copy = make("button", "Copy", "small");
  copy.type = "button";
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy"; }, 1_500);
  });
  item.append(make("code", text), copy, make("span", explanation, "quiet"));
  return item;
}
