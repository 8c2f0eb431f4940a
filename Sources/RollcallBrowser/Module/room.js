// A conversation that somebody observes, types in or has open: who types there, who its members are, and who has it open.

import { SECOND, steadyNow } from "./messages.js";
import { HERE, MEMBERS } from "./subscriptions.js";
import { Batch, isEqual, Observed } from "./updates.js";

class Room {
  /** How long after the worker's expiry a set of typists ends by itself, and the longest that any lasts without a word. */
  static TOLERANCE = 2 * SECOND;
  static LONGEST = 10 * SECOND;
  /** How long the first list of members waits for everybody's presence, so that nobody reads `0 of 5 online`. */
  static PATIENCE = SECOND;
  /** How long the first text waits for a name that the app was asked for, so that nobody reads "Someone" before it. */
  static NAME_PATIENCE = 100;

  typing = new Observed();
  members = new Observed();
  here = new Observed();
  /** What the app's entries show, as JSON or null, the one that showed something last at the end. */
  entries = new Map();
  /** The worker's list `{ users, count }` of who is here. */
  #hereHeard = null;
  /** The user's own input fields here whose views are shown. */
  fields = new Set();
  /** How many observations of its members' presence it lets this session make. */
  shares = 0;
  #engine;
  #typists = [];
  #count = 0;
  #refusal = null;
  /** When the typists count as gone: a worker repeats a set that stays, so the last word on it may be lost. */
  #typingEnd = null;
  /** Until when the first text waits for a name. */
  #namedBy = null;
  /** The worker's list `{ people, count }`, and the functions that end the observation of each member's presence. */
  #list = null;
  #endings = new Map();
  #isComplete = false;
  #completeBy = null;

  constructor(name, engine) {
    this.name = name;
    this.#engine = engine;
  }

  get isUsed() {
    const isObserved = [this.typing, this.members, this.here].some((each) => each.isObserved);
    return isObserved || this.fields.size > 0 || this.entries.size > 0 || this.#isSharing;
  }
  get way() { return (this.members.isObserved || this.#isSharing ? MEMBERS : 0) | (this.here.isObserved ? HERE : 0); }
  /** Whether it is joined for that: not where everybody may be seen, and not before the first welcome tells that. */
  get #isSharing() { return this.shares > 0 && this.#engine.right?.includes("*") === false; }

  /** Whether it certainly does not share a user with this session. */
  sharesNot(user) {
    if (!(this.way & MEMBERS) || this.#refusal) return true;
    return this.#list ? !this.#list.people.some((person) => person.user === user) : false;
  }

  /** Of the fields that are typed in, the one edited last. */
  get typedIn() {
    return [...this.fields].filter(({ isTyping }) => isTyping).sort((one, other) => other.editedAt - one.editedAt)[0];
  }
  get users() {
    const [typists, others] = [this.#typists, this.#hereHeard?.users ?? []].map((people) => people.map(({ user }) => user));
    return [...typists, ...others, ...this.#endings.keys()];
  }
  get deadline() { return Math.min(...[this.#typingEnd, this.#namedBy, this.#completeBy].map((each) => each ?? Infinity)); }

  deadlinePassed(now) {
    if (this.#typingEnd !== null && now >= this.#typingEnd) this.#showTyping([], 0, null);
    if (this.#namedBy !== null && now >= this.#namedBy) this.#showTyping(this.#typists, this.#count, this.#typingEnd);
    if (this.#completeBy !== null && now >= this.#completeBy) {
      this.#isComplete = true;
      this.showMembers();
    }
  }

  /**
   * Users who continue to type keep their places, and new ones follow in the worker's order. So no names change places
   * after a reconnect to a worker that learned of the typists in another order.
   */
  typingReceived({ typists, count }, expiry, now) {
    const present = new Map(typists.map((typist) => [typist.user, typist]));
    const places = new Set([...this.#typists.map(({ user }) => user), ...present.keys()]);
    const inPlace = [...places].flatMap((user) => present.get(user) ?? []);
    const end = count > 0 ? now + Math.min(expiry + Room.TOLERANCE, Room.LONGEST) : null;
    this.#refusal = null;
    this.#showTyping(inPlace, Math.max(count, inPlace.length), end);
  }

  /** What is shown becomes empty. */
  emptied() {
    if (this.typing.latest) this.#showTyping([], 0, null);
    if (this.members.latest) this.members.update({ conversation: this.name, people: [], count: 0 });
    this.endMembers();
    if (this.here.latest) this.#showHere({ users: [], count: 0 });
  }

  /** The worker does not serve this conversation, or no longer. What it serves later is a first value again. */
  refused(refusal) {
    if (refusal.message !== this.#refusal?.message) this.#engine.report(refusal);
    this.#refusal = refusal;
    this.#showTyping([], 0, null);
    this.endMembers();
    this.#hereHeard = null;
    if (this.here.isObserved) this.#showHere({ users: [], count: 0 }, { refusal });
    if (this.members.isObserved) this.members.update({ conversation: this.name, people: [], count: 0, refusal });
  }

  #showTyping(typists, count, end) {
    [this.#typists, this.#count, this.#typingEnd] = [typists, count, end];
    const [refusal, named, now] = [this.#refusal, typists.map((each) => this.#named(each)), steadyNow()];
    const waits = !this.typing.latest?.count && named.some(({ user, name }) => !name && this.#engine.names.isAsked(user));
    this.#namedBy = waits ? this.#namedBy ?? now + Room.NAME_PATIENCE : null;
    if (this.#namedBy !== null && now < this.#namedBy) return;
    this.#namedBy = null;
    this.typing.update({ conversation: this.name, typists: named, count, ...refusal && { refusal } });
  }

  #named(person) {
    const name = this.#engine.names.name(person.user) ?? person.name;
    return name === undefined ? person : { ...person, name };
  }

  /** @param {Set<string>} users whose names have come */
  namesCame(users) {
    if (this.#typists.some(({ user }) => users.has(user))) this.#showTyping(this.#typists, this.#count, this.#typingEnd);
    if ([...users].some((user) => this.#endings.has(user))) this.showMembers();
    if (this.#hereHeard?.users.some(({ user }) => users.has(user))) this.#showHere(this.#hereHeard);
  }

  hereReceived({ users, count }) {
    this.#hereHeard = { users, count };
    this.#showHere(this.#hereHeard);
  }

  #showHere({ users, count }, refused = {}) {
    const named = users.map((each) => this.#named(each));
    const others = named.filter(({ user }) => user !== this.#engine.ownUser);
    this.here.update({
      conversation: this.name, users: named, count, others, otherCount: count - (users.length - others.length), ...refused,
    });
  }

  /** Nobody observes who is here, or nobody is known to be. */
  endHere() {
    this.#hereHeard = null;
    this.here.forget();
  }

  /** The worker sends the list first, and then each member's presence without a `watch`. */
  membersReceived({ people, count }, now) {
    const users = new Set(people.map(({ user }) => user));
    for (const user of this.#endings.keys()) if (!users.has(user)) this.#endMember(user);
    for (const user of users) {
      if (this.#endings.has(user)) continue;
      this.#endings.set(user, this.#engine.people.observeMember(user, () => this.#engine.rooms.membersChanged(this)));
    }
    this.#list = { people, count: Math.max(count, people.length) };
    if (!this.#isComplete) this.#completeBy ??= now + Room.PATIENCE;
    this.#engine.rooms.membersChanged(this);
    this.#engine.people.ruleChanged();
  }

  showMembers() {
    if (!this.#list) return;
    const { people, count } = this.#list;
    const members = people.map((person) => {
      const presence = this.#engine.people.latest(person.user);
      // An entry without a name says none.
      const name = person.name || presence?.name;
      return { ...this.#named(name ? { ...person, name } : { user: person.user }), ...presence && { presence } };
    });
    this.#isComplete ||= members.every(({ presence }) => presence);
    if (!this.#isComplete) return;
    this.#completeBy = null;
    this.members.update({ conversation: this.name, people: members, count });
  }

  /** Presence is unknown until a new connection confirms it: for a list that is shown, that of everybody is awaited again. */
  presenceForgotten() {
    this.showMembers();
    this.#isComplete = false;
    this.#completeBy = null;
    this.endHere();
  }

  /** Nobody observes the members, or they are refused. */
  endMembers() {
    for (const user of [...this.#endings.keys()]) this.#endMember(user);
    this.#list = this.#completeBy = null;
    this.#isComplete = false;
    if (!this.members.isObserved) this.members.latest = undefined;
  }

  #endMember(user) {
    this.#endings.get(user)();
    this.#endings.delete(user);
  }
}

/**
 * The conversations that are observed or typed in. The first use of one makes the client ask the worker for it, and the last
 * makes the client give it up.
 */
export class Rooms {
  #engine;
  #rooms = new Map();
  /** Users whose names have come, and rooms whose members have changed, in this task. */
  #named = new Set();
  #changed = new Set();

  constructor(engine) { this.#engine = engine; }

  [Symbol.iterator]() { return this.#rooms.values(); }
  get(name) { return this.#rooms.get(name); }
  get fields() { return [...this].flatMap(({ fields }) => [...fields]); }

  observeTyping(name, receive, finish) { return this.#observe(name, (room) => room.typing, receive, finish); }
  observeMembers(name, receive, finish) { return this.#observe(name, (room) => room.members, receive, finish); }
  observeHere(name, receive, finish) {
    const nobody = { conversation: name, users: [], count: 0, others: [], otherCount: 0 };
    return this.#observe(name, (room) => room.here, receive, finish, () => receive(nobody));
  }

  #observe(name, part, receive, finish, forgotten = undefined) {
    const observer = { receive, forgotten };
    return this.#engine.begin(finish, () => {
      const room = this.open(name);
      part(room).add(observer);
      this.want(room);
      return () => {
        part(room).remove(observer);
        this.want(room);
      };
    });
  }

  /** Has the conversation joined with presence, if that is what lets this session see its members. Returns how to end that. */
  share(name) {
    const room = this.open(name);
    room.shares += 1;
    this.want(room);
    return () => {
      room.shares -= 1;
      this.want(room);
    };
  }

  /** Another rule decides who may be seen. */
  ruleChanged() { for (const room of this) if (room.shares > 0) this.want(room); }

  /** Each value is a new map, in which a row that has not changed is the same object. */
  observeConversations(rows, receive, finish) {
    const states = new Map([...rows.keys()].map((conversation) => (
      [conversation, { typing: { conversation, typists: [], count: 0 }, presences: new Map() }])));
    const rowsOf = new Map();
    for (const [name, people] of rows) {
      for (const user of new Set(people)) {
        if (!rowsOf.has(user)) rowsOf.set(user, []);
        rowsOf.get(user).push(name);
      }
    }
    const batch = new Batch(this.#engine, () => receive(new Map(states)));
    const change = (name, part) => {
      states.set(name, { ...states.get(name), ...part });
      batch.changed();
    };
    const changePresence = (user, presence) => {
      for (const name of rowsOf.get(user)) {
        const presences = new Map(states.get(name).presences);
        if (presence) presences.set(user, presence);
        else presences.delete(user);
        change(name, { presences });
      }
    };
    return this.#engine.begin(finish, () => {
      const endings = [...rows.keys()].map((name) => this.observeTyping(name, (typing) => {
        // The first of a room where nobody types says nothing new.
        if (!isEqual(typing, states.get(name).typing)) change(name, { typing });
      }, () => {}));
      endings.push(this.#engine.people.observe(
        [...rowsOf.keys()], (presence) => changePresence(presence.user, presence), (user) => changePresence(user, null),
        [...rows].filter(([, people]) => people.length > 0).map(([name]) => name)));
      batch.changed();
      return () => {
        batch.end();
        for (const end of endings) end();
      };
    });
  }

  latestTyping(name) { return this.#rooms.get(name)?.typing.latest; }
  latestMembers(name) { return this.#rooms.get(name)?.members.latest; }
  latestHere(name) { return this.#rooms.get(name)?.here.latest; }

  /** An entry of the app has a conversation open, and shows data as JSON or null; or no longer, with undefined. */
  entered(name, entry, data) {
    const room = data === undefined ? this.#rooms.get(name) : this.open(name);
    if (!room) return;
    room.entries.delete(entry);
    if (data !== undefined) room.entries.set(entry, data);
    this.#engine.outbox.entered(name, [...room.entries.values()].at(-1));
    this.want(room);
  }

  open(name) {
    const room = this.#rooms.get(name) ?? new Room(name, this.#engine);
    this.#rooms.set(name, room);
    return room;
  }

  /** Asks the worker for the conversation as far as it is used, or gives it up. */
  want(room) {
    if (this.#rooms.get(room.name) !== room) return;
    if (room.isUsed) this.#engine.outbox.conversations.want(room.name, room.way);
    else this.#engine.outbox.conversations.unwant(room.name);
    this.tidy(room.name);
    this.#engine.changed();
  }

  /** Drops a conversation, or only its members or who is here, if it is not used and the worker no longer sends it. */
  tidy(name) {
    const room = this.#rooms.get(name);
    if (!room) return;
    const asked = this.#engine.outbox.conversations.asked(name);
    if (!room.members.isObserved && !(asked & MEMBERS)) room.endMembers();
    if (!room.here.isObserved && !(asked & HERE)) room.endHere();
    if (!room.isUsed && room.shares === 0 && asked === undefined) this.#rooms.delete(name);
  }

  membersChanged(room) {
    this.#changed.add(room);
    this.#engine.changed();
  }

  nameCame(user) {
    this.#named.add(user);
    this.#engine.changed();
  }

  tidyAll() { for (const name of this.#rooms.keys()) this.tidy(name); }

  /** Shows, at the end of a task, what has changed in it. */
  settle() {
    const [named, changed] = [this.#named, this.#changed];
    [this.#named, this.#changed] = [new Set(), new Set()];
    if (named.size > 0) for (const room of this) room.namesCame(named);
    for (const room of changed) room.showMembers();
  }

  emptied() { for (const room of this) room.emptied(); }

  close() {
    this.emptied();
    this.#rooms.clear();
  }
}
