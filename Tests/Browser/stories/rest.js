// What an idle client costs, how it rests while nobody looks, and that it goes on as before.

import { followAppState } from "/rollcall.js";
import { connected, equal, inWorld, ok, seen } from "./world.js";

/** A page whose visibility the story controls, on a phone or not. */
async function onPage({ isTouch = false, isHidden = false }, story) {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
  const userAgent = isTouch ? "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)" : "Mozilla/5.0 (X11; Linux x86_64)";
  Object.defineProperty(navigator, "userAgent", { configurable: true, value: userAgent });
  try {
    await story((hidden) => {
      isHidden = hidden;
      document.dispatchEvent(new Event("visibilitychange"));
    });
  } finally {
    delete document.hidden;
    delete navigator.userAgent;
  }
}

const hour = 3_600_000;
const statuses = (client) => client.states.map(({ status }) => status);

export const stories = {
  "C11: a page of a phone rests after 30 s in the background, and goes on when it is seen": () => onPage({ isTouch: true }, (hide) => (
    connected(async (world, client) => {
      client.followPage();
      const [bob, typings] = [seen(client.presence("bob")), seen(client.typing("c42"))];
      await world.advance(1_000);
      hide(true);
      await world.advance(29_999);
      equal([client.deviceState, client.connection.latest.status], ["background", "connected"]);
      await world.advance(1);
      equal([world.kinds().at(-1), client.connection.latest.status], ["goodbye", "idle"]);
      const [said, timers] = [world.said.length, world.timers];
      await world.advance(hour);
      client.networkChanged();
      await world.advance(hour);
      equal([world.said.length - said, world.sockets.length, client.isStale.latest], [0, 1, true]);
      ok(world.timers <= timers, "and it needs no timers");
      hide(false);
      await world.advance(100);
      equal([client.connection.latest.status, world.kinds()], ["connected", ["hello", "join", "watch"]]);
      equal([bob.length, typings.at(-1).count, world.all("hello").at(-1).state], [2, 0, "active"]);
    }))),

  "C11: who comes back within 30 s, asks to stay, or has no phone, keeps the connection": async () => {
    const away = async (page, options, story = async () => {}) => onPage(page, (hide) => connected(async (world, client) => {
      client.followPage(options);
      hide(true);
      await story(world, client, hide);
      await world.advance(hour);
      equal([world.sockets.length, client.connection.latest.status], [1, "connected"]);
    }));
    await away({ isTouch: true }, { restAfter: null });
    await away({ isTouch: false }, {});
    await away({ isTouch: true }, {}, async (world, client, hide) => {
      await world.advance(29_000);
      hide(false);
    });
  },

  "C11: an app that connects in the background, or disconnects itself, decides": () => onPage({ isTouch: true }, (hide) => (
    connected(async (world, client) => {
      client.followPage();
      hide(true);
      await world.advance(31_000);
      client.connect();
      await world.advance(0);
      equal([client.connection.latest.status, world.all("hello").at(-1).state], ["connected", "background"]);
      await world.advance(31_000);
      equal(client.connection.latest.status, "idle");
      client.disconnect();
      hide(false);
      await world.advance(1_000);
      equal(client.connection.latest.status, "idle", "who disconnected stays so");
    }))),

  "P3: a page that was never visible begins idle; a phone's in the background": async () => {
    const first = (page) => onPage({ ...page, isHidden: true }, (hide) => inWorld(async (world) => {
      const client = world.client();
      client.followPage();
      client.connect();
      await world.advance(1_000);
      equal(world.all("hello").map(({ state }) => state), [page.isTouch ? "background" : "idle"]);
      hide(false);
      await world.advance(0);
      equal(world.all("state").at(-1).state, "active");
    }));
    await first({ isTouch: false });
    await first({ isTouch: true });
  },

  "C11: React Native's phases, and a rest in the background": () => connected(async (world, client) => {
    let tell;
    const removed = [];
    const AppState = {
      currentState: "active",
      addEventListener: (type, listener) => {
        tell = listener;
        return { remove() { removed.push(type, this !== undefined); } };
      },
    };
    const unfollow = followAppState(client, AppState);
    for (const state of ["inactive", "background", "unknown"]) tell(state);
    await world.advance(0);
    equal(world.all("state").map(({ state }) => state), ["background"]);
    await world.advance(30_000);
    equal(client.connection.latest.status, "idle");
    tell("active");
    await world.advance(100);
    equal([statuses(client).at(-1), world.all("hello").at(-1).state], ["connected", "active"]);
    unfollow();
    equal(removed, ["change", true]);
  }),

  "C11: an idle client sends a message every 20 s, one a minute more for last seen, and none at rest": async () => {
    const hourly = async (observe, isTouch) => {
      let told;
      await onPage({ isTouch }, (hide) => connected(async (world, client) => {
        client.followPage();
        observe(client, world);
        if (isTouch) hide(true);
        await world.advance(60_000);
        const said = world.said.length;
        await world.advance(hour);
        told = world.said.length - said;
      }));
      return told;
    };
    // The stories' worker sends no pings, which browsers hide.
    const [quiet, online, lastSeen, rest] = [
      await hourly(() => {}, false),
      await hourly((client, world) => {
        world.script = (message, socket) => {
          if (message.type === "watch") socket.tellPresence("bob", "online");
          else socket.behave(message);
        };
        client.presence("bob").subscribe(() => {});
      }, false),
      await hourly((client) => client.presence("bob").subscribe(() => {}), false),
      await hourly((client) => client.presence("bob").subscribe(() => {}), true),
    ];
    equal([quiet, online, lastSeen, rest], [181, 181, 241, 0]);
    return `messages an hour: quiet ${quiet}, somebody online ${online}, with a last seen ${lastSeen}, at rest ${rest}`;
  },
};
