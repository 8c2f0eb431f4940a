// The six who chat by themselves: they take turns, talk over each other, look away, leave and come back.

import { Bot } from "./bot.js";
import { between, pause } from "./pace.js";
import { BOTS, CONVERSATIONS } from "./people.js";
import { ANSWERS, STORY } from "./story.js";

/** All windows together have one crowd: whichever holds this lock plays it. */
const LOCK = "rollcall-demo-crowd";

/** Plays the bots in the one window that has them. A `changed` event says that they were paused or go on. */
export class Crowd extends EventTarget {
  /** None in a window that does not have them. */
  bots = [];
  isPaused = false;
  #chat;
  #make;
  #next = 0;
  #busy = new Set();
  /** Aborted where this window gives them up. */
  #stay = null;
  /** Aborted where they pause. */
  #acting = null;

  constructor({ chat, urlsFor, suffix }) {
    super();
    const conversation = CONVERSATIONS.group;
    this.#chat = chat;
    this.#make = () => BOTS.map((user) => new Bot({ user, urls: urlsFor(), chat, conversation, suffix }));
    chat.addEventListener("message", ({ detail }) => this.#heard(detail));
  }

  /** Has them come, once no other window has them. A pause stays one. */
  open() {
    if (this.#stay) return;
    const { signal } = this.#stay = new AbortController();
    navigator.locks.request(LOCK, { signal }, () => this.#live(signal)).catch(() => {});
  }

  /** Gives them up to another window. */
  close() {
    this.#stay?.abort();
    this.#stay = null;
  }

  play() {
    this.isPaused = false;
    this.#act();
    this.dispatchEvent(new Event("changed"));
  }

  /** They stop in the middle of a word, and stay where they are: no other window is to play them meanwhile. */
  pause() {
    this.isPaused = true;
    this.#stop();
    this.dispatchEvent(new Event("changed"));
  }

  bot(user) { return this.bots.find((bot) => bot.user === user); }

  /** Has the bots until the signal is aborted. */
  async #live(signal) {
    const end = new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    this.bots = this.#make();
    for (const bot of this.bots) bot.come();
    if (!this.isPaused) this.#act();
    await end;
    this.#stop();
    for (const bot of this.bots.splice(0)) bot.quit();
  }

  #act() {
    if (this.#acting || this.bots.length === 0) return;
    const { signal } = this.#acting = new AbortController();
    for (const doing of [this.#talk(signal), this.#roam(signal)]) doing.catch(() => {});
  }

  #stop() {
    this.#acting?.abort();
    this.#acting = null;
  }

  async #talk(signal) {
    await pause(600, signal);
    let last = Promise.resolve();
    for (;;) {
      const [user, text] = STORY[this.#next % STORY.length];
      if (!this.#busy.has(user)) {
        const before = last;
        this.#next += 1;
        last = this.#occupy(user, (bot) => bot.say(text, signal, before));
        if (Math.random() < 0.3) this.#hesitate(signal);
      }
      // Often the next begins before the last has ended.
      await pause(Math.min(text.length * 70, 3_200) + between(200, 1_400), signal);
    }
  }

  async #roam(signal) {
    for (;;) {
      await pause(between(6_000, 11_000), signal);
      const free = this.bots.filter(({ user }) => !this.#busy.has(user));
      const bot = free[Math.floor(Math.random() * free.length)];
      if (!bot) continue;
      if (!bot.isHere) bot.come();
      else if (Math.random() < 0.5) bot.rest();
      else bot.leave();
    }
  }

  #hesitate(signal) {
    const [user] = STORY[(this.#next + 3) % STORY.length];
    this.#occupy(user, (bot) => bot.hesitate(signal));
  }

  /** Has a bot do one thing at a time; one who is away comes back for it. */
  async #occupy(user, act) {
    if (this.#busy.has(user)) return;
    this.#busy.add(user);
    const bot = this.bot(user);
    if (!bot.isHere) bot.come();
    // Only a pause of the crowd interrupts.
    await act(bot).catch(() => {});
    this.#busy.delete(user);
  }

  /** Somebody answers a visitor. */
  async #heard({ conversation, from }) {
    const signal = this.#acting?.signal;
    if (!signal || conversation !== CONVERSATIONS.group.id || BOTS.includes(from)) return;
    const bot = this.bots[Math.floor(Math.random() * this.bots.length)];
    const answer = ANSWERS[Math.floor(Math.random() * ANSWERS.length)];
    await pause(between(500, 1_200), signal).then(
      () => this.#occupy(bot.user, (each) => each.say(answer, signal)), () => {});
  }
}
