// The six who chat by themselves: they take turns, talk over each other, look away, leave and come back.

import { Bot } from "./bot.js";
import { between, pause } from "./pace.js";
import { BOTS, CONVERSATIONS } from "./people.js";
import { ANSWERS, STORY } from "./story.js";

/** All windows together have one crowd: whichever holds this lock plays it. */
const LOCK = "rollcall-demo-crowd";

/** Plays the bots while it is not paused. A `changed` event says that it was paused or goes on. */
export class Crowd extends EventTarget {
  bots = [];
  #chat;
  #make;
  #next = 0;
  #busy = new Set();
  #playing = null;

  constructor({ chat, urlsFor, suffix }) {
    super();
    const conversation = CONVERSATIONS.group;
    this.#chat = chat;
    this.#make = () => BOTS.map((user) => new Bot({ user, urls: urlsFor(), chat, conversation, suffix }));
    chat.addEventListener("message", ({ detail }) => this.#heard(detail));
  }

  get isPlaying() { return this.#playing !== null; }

  play() {
    if (this.isPlaying) return;
    const playing = new AbortController();
    this.#playing = playing;
    navigator.locks.request(LOCK, { signal: playing.signal }, () => this.#live(playing.signal)).catch(() => {});
    this.dispatchEvent(new Event("changed"));
  }

  /** They stop in the middle of a word, and stay where they are. */
  pause() {
    this.#playing?.abort();
    this.#playing = null;
    this.dispatchEvent(new Event("changed"));
  }

  bot(user) { return this.bots.find((bot) => bot.user === user); }

  #live(signal) {
    if (this.bots.length === 0) this.bots = this.#make();
    for (const bot of this.bots) bot.come();
    return Promise.all([this.#talk(signal), this.#roam(signal)]);
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
    const signal = this.#playing?.signal;
    if (!signal || conversation !== CONVERSATIONS.group.id || BOTS.includes(from) || this.bots.length === 0) return;
    const bot = this.bots[Math.floor(Math.random() * this.bots.length)];
    const answer = ANSWERS[Math.floor(Math.random() * ANSWERS.length)];
    await pause(between(500, 1_200), signal).then(
      () => this.#occupy(bot.user, (each) => each.say(answer, signal)), () => {});
  }
}
