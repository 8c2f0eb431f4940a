// The six bots: they take turns, talk at the same time, become idle, leave and return.

import { Bot } from "./bot.js";
import { between, pause } from "./pace.js";
import { BOTS, CONVERSATIONS } from "./people.js";
import { ANSWERS, STORY } from "./story.js";

/** All windows share one crowd, which runs in the window that holds this lock. */
const LOCK = "rollcall-demo-crowd";

/** Runs the bots in one window. Emits `changed` when they are paused or continue. */
export class Crowd extends EventTarget {
  /** The bots; empty in windows that do not run them. */
  bots = [];
  isPaused = false;
  #chat;
  #make;
  #next = 0;
  #busy = new Set();
  /** Aborted when this window releases the bots. */
  #stay = null;
  /** Aborted when the bots are paused. */
  #acting = null;

  constructor({ chat, urlsFor, suffix }) {
    super();
    const conversation = CONVERSATIONS.group;
    this.#chat = chat;
    this.#make = () => BOTS.map((user) => new Bot({ user, urls: urlsFor(), chat, conversation, suffix }));
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

  play() {
    this.isPaused = false;
    this.#act();
    this.dispatchEvent(new Event("changed"));
  }

  /** Stops the bots at once, even within a word. They stay in this window, so no other window runs them. */
  pause() {
    this.isPaused = true;
    this.#stop();
    this.dispatchEvent(new Event("changed"));
  }

  bot(user) { return this.bots.find((bot) => bot.user === user); }

  /** Runs the bots until the signal is aborted. */
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
      // The next one often starts before the last has finished.
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

  /** Lets a bot do one thing at a time. A bot that is away returns for it. */
  async #occupy(user, act) {
    if (this.#busy.has(user)) return;
    this.#busy.add(user);
    const bot = this.bot(user);
    if (!bot.isHere) bot.come();
    // Only a pause of the crowd interrupts it.
    await act(bot).catch(() => {});
    this.#busy.delete(user);
  }

  /** Lets a bot answer a visitor. */
  async #heard({ conversation, from }) {
    const signal = this.#acting?.signal;
    if (!signal || conversation !== CONVERSATIONS.group.id || BOTS.includes(from)) return;
    const bot = this.bots[Math.floor(Math.random() * this.bots.length)];
    const answer = ANSWERS[Math.floor(Math.random() * ANSWERS.length)];
    await pause(between(500, 1_200), signal).then(
      () => this.#occupy(bot.user, (each) => each.say(answer, signal)), () => {});
  }
}
