// A bot that greets whoever comes: it is seen thinking, then typing, and then its message would be sent.
//
// usage: ROLLCALL_ADMIN=http://127.0.0.1:8081 ROLLCALL_TOKEN=… node bot.mjs ada c42
// Needs events.enabled. Where the conversation has members, the bot must be one of them.

const [bot, conversation] = process.argv.slice(2);
const admin = process.env.ROLLCALL_ADMIN ?? "http://127.0.0.1:8081";
const headers = { authorization: `Bearer ${process.env.ROLLCALL_TOKEN ?? ""}`, "content-type": "application/json" };
const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

async function ask(method, path, body) {
  const answer = await fetch(admin + path, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? null : answer.json();
}

/** Shows the bot as doing this while the work lasts; without a renewal it ends by itself. */
async function shown(kind, work) {
  const typing = `/v1/conversations/${encodeURIComponent(conversation)}/typing/${encodeURIComponent(bot)}`;
  await ask("PUT", typing, { kind, for: "30s" });
  try {
    return await work();
  } finally {
    await ask("DELETE", typing);
  }
}

async function greet(user) {
  const text = await shown("thinking", async () => {
    await pause(1); // here a model would be asked
    return `Hello, ${user}!`;
  });
  await shown("typing", () => pause(1));
  console.log(text); // here the app would store and send its message
}

const greeted = new Map();
let after = (await ask("GET", "/v1/events?after=latest")).next; // who came before is not greeted
for (;;) {
  try {
    const page = await ask("GET", `/v1/events?after=${after}&wait=30s`);
    for (const { user, status, version } of page.events) {
      if (!status || user === bot || status === "offline" || greeted.get(user) >= version) continue;
      greeted.set(user, version);
      await greet(user);
    }
    after = page.next;
  } catch (error) {
    console.error(`${error.message}; trying again`);
    await pause(1);
  }
}
