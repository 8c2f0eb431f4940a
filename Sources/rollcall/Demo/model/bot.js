// A bot: a real client with a real session on a real worker, which types letter by letter.

import { RollcallClient } from "../rollcall.js";
import { Network } from "./network.js";
import { between, pause } from "./pace.js";

/** A user with a phone, controlled by the page. */
export class Bot {
  /** The status that the bot's own device reports, to detect if others are shown a wrong one. */
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

  /** The app goes to the background, or closes with a goodbye. Others see no difference. */
  leave() {
    this.meant = "offline";
    if (Math.random() < 0.5) this.client.setState("background");
    else this.client.disconnect();
  }

  /** Releases the bot without a goodbye: another window may continue it, so no user should see it leave in between. */
  quit() {
    this.meant = "offline";
    this.client.disconnect({ goodbye: false });
    this.client.close();
  }

  /**
   * Types a text as people do, with occasional pauses, and sends it.
   *
   * @param {Promise<void>} before resolves when the previous message is sent: an answer may be started, but not sent,
   * earlier
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

  /** Starts to type, and deletes the text again. */
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
