import { Alarm } from "./alarm.js";
import { MembersPicture, TypingPicture } from "./pictures.js";
import { Topic } from "./topic.js";

/** What is shown of one conversation that somebody here observes or types in. */
export class Room {
  topic = new Topic();
  /** Its members, while somebody observes them, or the worker still tells of them. */
  gathering = null;
  #names;
  #picture;
  #alarm = new Alarm(() => {
    this.#picture.deadlinePassed(performance.now());
    this.#show();
  });

  constructor(conversation, names) {
    this.conversation = conversation;
    this.#names = names;
    this.#picture = new TypingPicture(conversation);
  }

  heard(message, expiry) {
    this.#picture.heard(message, expiry, performance.now());
    this.#show();
  }

  refused(error) {
    this.#picture.refused(error);
    this.gathering?.refused(error);
    this.#show();
  }

  /** Everybody who is on show here. */
  get users() {
    return [...this.#picture.typing.typists.map(({ user }) => user), ...this.gathering?.users ?? []];
  }

  /** @param {Set<string>} users */
  namesLearnt(users) {
    this.gathering?.namesLearnt(users);
    if (this.#picture.typing.typists.some(({ user }) => users.has(user))) this.#show();
  }

  get isObserved() { return this.topic.isObserved || this.gathering?.topic.isObserved === true; }

  /** Nobody looks any more. */
  end() {
    this.#alarm.set(null);
    this.endGathering();
  }

  endGathering() {
    this.gathering?.end();
    this.gathering = null;
  }

  #show() {
    const { typing, deadline } = this.#picture;
    const typists = typing.typists.map((typist) => {
      const name = this.#names.name(typist.user);
      return name === undefined ? typist : { ...typist, name };
    });
    this.topic.update({ ...typing, typists });
    this.#alarm.set(deadline);
  }
}

/**
 * Who belongs to a conversation, and who of them is here. The worker tells of everybody's presence for the sake of the
 * conversation, so that nobody need be watched one by one; whoever is watched besides is told of once.
 */
export class Gathering {
  topic = new Topic();
  #names;
  #listen;
  #picture;
  /** What ends listening to each member's presence. */
  #endings = new Map();
  #isDue = false;
  #alarm = new Alarm(() => {
    this.#picture.deadlinePassed(performance.now());
    this.#showSoon();
  });

  /** @param listen begins to listen to a user's presence, and returns what ends that */
  constructor(conversation, names, listen) {
    this.#picture = new MembersPicture(conversation);
    this.#names = names;
    this.#listen = listen;
  }

  get users() { return this.#endings.keys(); }

  heard(message) {
    const users = new Set(message.people.map(({ user }) => user));
    this.#picture.heard(message, performance.now());
    for (const user of this.#endings.keys()) if (!users.has(user)) this.#forget(user);
    for (const user of users) if (!this.#endings.has(user)) this.#remember(user);
    this.#showSoon();
  }

  refused(refusal) {
    this.end();
    this.#picture.refused(refusal);
    this.#showSoon();
  }

  /** @param {Set<string>} users */
  namesLearnt(users) { if ([...users].some((user) => this.#endings.has(user))) this.#showSoon(); }

  /** Nobody looks any more. */
  end() {
    this.#picture.deadline = null;
    this.#alarm.set(null);
    for (const user of [...this.#endings.keys()]) this.#forget(user);
  }

  #remember(user) {
    this.#endings.set(user, this.#listen(user, (presence) => {
      this.#picture.presenceHeard(presence);
      this.#showSoon();
    }));
  }

  #forget(user) {
    this.#endings.get(user)();
    this.#endings.delete(user);
  }

  /** Once a task: the presence of a thousand is one change, not a thousand. */
  #showSoon() {
    this.#alarm.set(this.#picture.deadline);
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      const members = this.#picture.members((user) => this.#names.name(user));
      this.#alarm.set(this.#picture.deadline);
      if (members) this.topic.update(members);
    });
  }
}
