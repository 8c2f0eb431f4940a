// The six bots: real clients with real sessions on real workers, which type letter by letter, talk at the same time, become
// idle, leave and return.

import { RollcallClient } from "./rollcall.js";
import { BOTS, CONVERSATIONS } from "./chat.js";
import { Network } from "./device.js";

/** All windows share one crowd, which runs in the window that holds this lock. */
const LOCK = "rollcall-demo-crowd";

const STORY = [
  ["chloe", "Weather says 24 degrees and no wind ☀️"], ["deniz", "Then I bring the canoe"],
  ["emil", "Who has a car? I have room for two more in mine"], ["gal", "Me please! From the station?"],
  ["emil", "Nine at the station works"], ["fatima", "سأحضر السلطة والخبز 🥗"], ["haruka", "おにぎり、作っていくね 🍙"],
  ["chloe", "Haruka, you are the best"], ["deniz", "Is there a grill, or shall I bring mine?"],
  ["gal", "There is one on the north side, but it is always taken by noon"], ["deniz", "Mine it is then 🔥"],
  ["gal", "אני מביאה אבטיח 🍉"], ["emil", "Can somebody think of sunscreen this time? Not naming names"],
  ["chloe", "That was ONE time 😂"], ["haruka", "I have a small speaker"], ["gal", "Swimming to the island, who is in?"],
  ["deniz", "Only if it is above 20 in the water"], ["emil", "It was 21 yesterday"], ["gal", "Then no excuse left 🏊"],
  ["chloe", "Lovely. See you all on Saturday!"], ["fatima", "إن شاء الله 💛"],
];
/** What bots answer to a visitor. */
const ANSWERS = ["Good idea!", "Count me in", "Noted 📝", "Ha, yes", "Why not!", "いいね 👍", "أكيد!", "סבבה 🙂"];

const between = (least, most) => least + Math.random() * (most - least);
const oneOf = (all) => all[Math.floor(Math.random() * all.length)];

/** Waits for a duration in milliseconds, or throws the signal's reason once it is aborted. */
function pause(duration, signal) {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(resolve, duration);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });
}

/** A user with a phone, controlled by the page. */
class Bot {
  /** The status that the bot's own device reports, to detect if others are shown a wrong one. */
  meant = "online";
  isBusy = false;

  constructor(user, urls, suffix) {
    this.user = user;
    const { WebSocket } = new Network(urls[0]);
    this.client = new RollcallClient({ url: urls, token: user, device: `bot-${suffix}`, idleAfter: null, WebSocket });
    this.input = this.client.typingInput(CONVERSATIONS.group.id);
    this.client.connect();
  }

  get worker() {
    const connection = this.client.connection.latest;
    return connection?.status === "connected" ? connection.session.worker.split(".")[0] : null;
  }

  be(status) {
    this.meant = status;
    this.client.setState({ online: "active", away: "idle", offline: "background" }[status]);
  }

  /**
   * Types a text as people do, with occasional pauses, and sends it.
   *
   * @param {Promise<void>} before resolves when the previous message is sent: an answer may be started, but not sent,
   * earlier
   */
  async say(text, signal, before) {
    const characters = [...text];
    try {
      for (let typed = 1; typed <= characters.length; typed += 1) {
        this.input.edited(characters.slice(0, typed).join(""));
        await pause(between(55, 135) + (Math.random() < 0.04 ? between(400, 1_400) : 0), signal);
      }
      await before;
      await this.input.sendConfirmed();
    } catch (error) {
      this.input.send();
      throw error;
    }
  }
}

/** Runs the bots in one window. Emits `changed` when they are paused or continue. */
export class Crowd extends EventTarget {
  /** The bots; empty in windows that do not run them. */
  bots = [];
  isPaused = false;
  #chat;
  #make;
  #next = 0;
  /** Aborted when this window releases the bots. */
  #stay = null;
  /** Aborted when the bots are paused. */
  #acting = null;

  constructor({ chat, urlsFor, suffix }) {
    super();
    this.#chat = chat;
    this.#make = () => BOTS.map((user) => new Bot(user, urlsFor(), suffix));
    chat.addEventListener("message", ({ detail }) => this.#heard(detail));
  }

  /** Starts the bots once no other window runs them. If they were paused, they stay paused. */
  open() {
    if (this.#stay) return;
    const { signal } = this.#stay = new AbortController();
    navigator.locks.request(LOCK, { signal }, () => this.#live(signal)).catch(() => {});
  }

  /** Releases the bots, so that another window can run them. */
  close() {
    this.#stay?.abort();
    this.#stay = null;
  }

  /** Stops the bots at once, even within a word, or lets them go on. They stay in this window meanwhile. */
  togglePause() {
    this.isPaused = !this.isPaused;
    if (this.isPaused) this.#acting?.abort();
    else this.#act();
    this.dispatchEvent(new Event("changed"));
  }

  bot(user) { return this.bots.find((bot) => bot.user === user); }

  /** Runs the bots until the signal is aborted. */
  async #live(signal) {
    const end = new Promise((resolve) => { signal.addEventListener("abort", resolve, { once: true }); });
    this.bots = this.#make();
    if (!this.isPaused) this.#act();
    await end;
    this.#acting?.abort();
    // Without a goodbye: another window may continue them, so no user should see them leave in between.
    for (const { client } of this.bots.splice(0)) client.disconnect({ goodbye: false }).then(() => client.close());
  }

  #act() {
    if (this.bots.length === 0) return;
    const { signal } = this.#acting = new AbortController();
    for (const doing of [this.#talk(signal), this.#roam(signal)]) doing.catch(() => {});
  }

  async #talk(signal) {
    let last = pause(600, signal);
    await last;
    for (;;) {
      const [user, text] = STORY[this.#next % STORY.length];
      if (!this.bot(user).isBusy) {
        this.#next += 1;
        last = this.#say(this.bot(user), text, signal, last);
      }
      // The next one often starts before the last has finished.
      await pause(Math.min(text.length * 70, 3_200) + between(200, 1_400), signal);
    }
  }

  async #roam(signal) {
    for (;;) {
      await pause(between(6_000, 11_000), signal);
      const bot = oneOf(this.bots.filter(({ isBusy }) => !isBusy));
      bot?.be(bot.meant === "online" ? oneOf(["away", "offline"]) : "online");
    }
  }

  /** Lets a bot say one thing at a time. A bot that is away returns for it. */
  async #say(bot, text, signal, before = Promise.resolve()) {
    if (!bot || bot.isBusy) return;
    bot.isBusy = true;
    bot.be("online");
    // Only a pause of the crowd interrupts it.
    const isSaid = await bot.say(text, signal, before).then(() => true, () => false);
    bot.isBusy = false;
    if (isSaid) this.#chat.send(CONVERSATIONS.group.id, bot.user, text);
  }

  /** Lets a bot answer a visitor. */
  async #heard({ conversation, from }) {
    const signal = this.#acting?.signal;
    if (!signal || conversation !== CONVERSATIONS.group.id || BOTS.includes(from)) return;
    await pause(between(500, 1_200), signal).then(() => this.#say(oneOf(this.bots), oneOf(ANSWERS), signal), () => {});
  }
}
