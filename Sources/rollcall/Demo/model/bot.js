// One who takes part by themselves: a real client with a real session on a real worker, who types letter by letter.

import { RollcallClient } from "../rollcall.js";
import { Network } from "./network.js";
import { between, pause } from "./pace.js";

/** A person with a phone whom the page plays. */
export class Bot {
  /** What its own device says, so that one can tell what others are told wrongly. */
  meant = "offline";
  #chat;
  #conversation;
  #input = null;

  constructor({ user, urls, chat, conversation, suffix }) {
    this.user = user;
    this.#chat = chat;
    this.#conversation = conversation;
    const { WebSocket } = new Network(urls[0]);
    this.client = new RollcallClient({ url: urls, token: user, device: `bot-${suffix}`, idleAfter: null, WebSocket });
  }

  get isHere() { return this.meant === "online"; }

  get worker() {
    const connection = this.client.connection.latest;
    return connection?.status === "connected" ? connection.session.worker.split(".")[0] : null;
  }

  come() {
    this.meant = "online";
    this.#input ??= this.client.typingInput(this.#conversation.id);
    this.client.setState("active");
    this.client.connect();
  }

  rest() {
    this.meant = "away";
    this.client.setState("idle");
  }

  /** The app goes to the background, or is closed with a goodbye: others see no difference. */
  leave() {
    this.meant = "offline";
    if (Math.random() < 0.5) this.client.setState("background");
    else this.client.disconnect();
  }

  /** Its window gives it up: another may play the same person, so nobody is to see them leave meanwhile. */
  quit() {
    this.meant = "offline";
    this.client.disconnect({ goodbye: false });
    this.client.close();
  }

  /**
   * Types a text as people do, with a breath here and there, and sends it.
   *
   * @param {Promise<void>} before what is to be said first: an answer may be begun, but not sent, before its question
   */
  async say(text, signal, before = Promise.resolve()) {
    const characters = [...text];
    try {
      for (let typed = 1; typed <= characters.length; typed += 1) {
        this.#input.edited(characters.slice(0, typed).join(""));
        await pause(between(55, 135) + (Math.random() < 0.04 ? between(400, 1_400) : 0), signal);
      }
      await before;
      await this.#input.sendConfirmed();
    } catch (error) {
      this.#input.send();
      throw error;
    }
    this.#chat.send(this.#conversation.id, this.user, text);
  }

  /** Begins to say something, and thinks better of it. */
  async hesitate(signal) {
    try {
      for (let typed = 1; typed <= 14; typed += 1) {
        this.#input.edited("x".repeat(typed));
        await pause(between(80, 160), signal);
      }
    } finally {
      this.#input.edited("");
    }
  }
}
