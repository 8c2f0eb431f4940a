// The bots: real clients with real sessions on real workers, which type letter by letter, talk at the same time, become
// idle, leave and return. Ada answers whoever asks: she thinks, and then types.

import { RollcallClient } from "./rollcall.js";
import { BOTS, CONVERSATIONS, tokenOf } from "./chat.js";
import { Network } from "./device.js";

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

const pause = (duration) => new Promise((resolve) => { setTimeout(resolve, duration); });

/** The bots of all windows, which run in the first one that opened the group. Emits `changed` when they pause or go on. */
export class Crowd extends EventTarget {
  /** The bots, each a user's client and the field it types into; empty in windows that do not run them. */
  bots = [];
  isPaused = false;
  #chat;
  #asked = false;

  constructor(chat) {
    super();
    this.#chat = chat;
    chat.addEventListener("message", ({ detail }) => this.#heard(detail));
  }

  /** Starts the bots, once no other window runs them. The lock is held until this window is closed. */
  open(urlsFor, suffix) {
    if (this.#asked) return;
    this.#asked = true;
    navigator.locks.request("rollcall-demo-crowd", () => {
      this.bots = BOTS.map((user) => {
        const [first, ...others] = urlsFor();
        const client = new RollcallClient({
          url: [first, ...others], token: tokenOf(user), device: `bot-${suffix}`, idleAfter: null,
          WebSocket: new Network(first).WebSocket,
        });
        client.connect();
        const { id } = user === "ada" ? CONVERSATIONS.assistant : CONVERSATIONS.group;
        return { user, client, input: client.typingInput(id), isBusy: false, entry: null };
      });
      return Promise.all([this.#talk(), this.#roam(), this.#read()]);
    });
  }

  togglePause() {
    this.isPaused = !this.isPaused;
    this.dispatchEvent(new Event("changed"));
  }

  async #talk() {
    for (let next = 0; ; ) {
      const [user, text] = STORY[next % STORY.length];
      const bot = this.bots.find((each) => each.user === user);
      if (!this.isPaused && !bot.isBusy) {
        next += 1;
        this.#say(bot, text);
      }
      // The next one often starts before the last has finished.
      await pause(Math.min(text.length * 70, 3_200) + between(200, 1_400));
    }
  }

  async #roam() {
    for (;;) {
      await pause(between(6_000, 11_000));
      const { isBusy, client } = oneOf(this.bots);
      if (this.isPaused || isBusy) continue;
      client.setState(client.deviceState === "active" ? oneOf(["idle", "background"]) : "active");
    }
  }

  /** The bots open the packing list, move on in it, and close it. */
  async #read() {
    const { id, sections } = CONVERSATIONS.document;
    for (;;) {
      await pause(between(1_500, 4_000));
      const bot = oneOf(this.bots.filter(({ user }) => user !== "ada"));
      if (this.isPaused) continue;
      const data = { section: Math.floor(between(0, sections.length)) };
      if (!bot.entry) bot.entry = bot.client.enter(id, { data });
      else if (Math.random() < 0.6) bot.entry.show(data);
      else {
        bot.entry.close();
        bot.entry = null;
      }
    }
  }

  /**
   * Thinks for so long, types a text as people do, and sends it, unless the bots are paused meanwhile. A bot that is away
   * returns for it.
   */
  async #say(bot, text, thinking = 0) {
    bot.isBusy = true;
    bot.client.setState("active");
    for (let left = thinking; left > 0 && !this.isPaused; left -= 500) {
      bot.input.keepTyping("thinking");
      await pause(500);
    }
    const letters = [...text];
    // Whoever saw that the bot thinks sees that it types: a worker passes on at most one change a second.
    const least = thinking ? 2_500 / letters.length : 0;
    for (let typed = 1; typed <= letters.length && !this.isPaused; typed += 1) {
      bot.input.edited(letters.slice(0, typed).join(""));
      await pause(Math.max(least, between(55, 135)));
    }
    await bot.input.sendConfirmed().catch(() => {});
    bot.isBusy = false;
    if (!this.isPaused) this.#chat.send(bot.input.conversation, bot.user, text);
  }

  /** Lets a bot answer a visitor. */
  async #heard({ conversation, from }) {
    if (this.isPaused || BOTS.includes(from)) return;
    await pause(between(500, 1_200));
    const bot = oneOf(this.bots.filter(({ isBusy, input }) => !isBusy && input.conversation === conversation));
    if (bot) this.#say(bot, oneOf(ANSWERS), bot.user === "ada" ? between(2_000, 4_000) : 0);
  }
}
