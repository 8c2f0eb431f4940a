"use client";

// Hooks for React 18 and later: what a component shows, as finished sentences in the page's language. `react.d.ts` documents
// them. While a page is rendered on a server there is no client, and no user is known.

import {
  createContext, createElement, useContext, useEffect, useMemo, useReducer, useRef, useState, useSyncExternalStore,
} from "react";
import { RollcallError, soon, validName, validUser, warn } from "./messages.js";
import {
  availabilityText, connectionText, groupCount, hereLabel, hereText, lastSeenValidity, presenceView, RollcallClient, TypingAnnouncer, typingLabel, typingText,
} from "./rollcall.js";
import { shownPresence } from "./texts.js";
import { isEqual } from "./updates.js";

/** The client; null before there is one, and undefined without a provider. */
const Context = createContext(undefined);
const NONE = new Map();
const IDLE = { status: "idle" };
const UNKNOWN = { presence: undefined, text: "", dot: "none", label: "" };

export function RollcallProvider({ options, client = undefined, children }) {
  const made = useClient(client ? null : options);
  return createElement(Context.Provider, { value: client ?? made }, children);
}

/** A client of these options, which is connected and follows the page; null without options. */
function useClient(options) {
  const [client, setClient] = useState(null);
  // A callback of a later render knows what an earlier one did not.
  const newest = useRef(options);
  newest.current = options;
  /** The client, its URL, and whether the component was unmounted. */
  const kept = useRef(null);
  const url = options && JSON.stringify(options.url);
  useEffect(() => {
    if (!options) return undefined;
    // Mounted again within the same task, as strict mode and hot reload do it: nobody sees the user leave.
    if (kept.current?.url !== url) kept.current = { url, ...connected(newest) };
    const mine = kept.current;
    mine.isLeft = false;
    setClient(mine.client);
    return () => {
      mine.isLeft = true;
      soon(() => {
        if (!mine.isLeft) return;
        mine.end();
        if (kept.current === mine) kept.current = null;
      });
    };
  }, [url]);
  const fixed = JSON.stringify({ ...options, url: 0, token: 0, names: 0 });
  const first = useRef(fixed);
  useEffect(() => {
    if (fixed === first.current || typeof process !== "undefined" && process.env?.NODE_ENV === "production") return;
    first.current = fixed;
    warn({ message: "other options than url, token and names have changed: give <RollcallProvider> another key" });
  }, [fixed]);
  return client;
}

function connected(newest) {
  const client = new RollcallClient({
    ...newest.current,
    token: (request) => {
      const { token } = newest.current;
      return typeof token === "function" ? token(request) : token;
    },
    names: (user) => newest.current.names?.(user),
  });
  client.connect();
  const unfollow = client.followPage();
  const end = () => {
    unfollow();
    client.close();
  };
  return { client, end };
}

export function useRollcall() {
  const client = useContext(Context);
  if (client === undefined) throw new Error("Rollcall's hooks need a <RollcallProvider options={…}> around the component");
  return client;
}

/** Whether there is a name: `undefined`, `null` and `""` are not yet one. */
const isGiven = (name) => name !== undefined && name !== null && name !== "";

/** Calls a function of the app's arguments. What it throws, such as for an invalid name, is a problem, and it gives null. */
function tried(client, body) {
  try {
    return body();
  } catch (error) {
    RollcallClient.report(client, error);
    return null;
  }
}

/**
 * The latest value of a stream, which is observed while the component is shown.
 *
 * @param key what the stream is about: with another, it is another stream; null as long as it is about nothing
 * @param of returns the stream of a client
 */
function useLatest(key, of, initial) {
  const client = useRollcall();
  const store = useMemo(() => storeOf(client, client && key !== null ? streamOf(client, of) : null, initial), [client, key]);
  return useSyncExternalStore(store.subscribe, store.snapshot, () => store.onServer).value;
}

/** A stream, or why there is none: an effect reports it, not a render. */
function streamOf(client, of) {
  try {
    return of(client);
  } catch (error) {
    return { latest: undefined, subscribe: () => tried(client, () => { throw error; }) ?? (() => {}) };
  }
}

/** Outside of the hook, so that what React keeps holds no render. */
function storeOf(client, stream, initial) {
  // Each value has a new holder: what an equal one means may have changed.
  let holder = { value: stream?.latest ?? initial };
  return {
    subscribe: (changed) => stream?.subscribe((value) => {
      holder = { value };
      changed();
    }) ?? (() => {}),
    snapshot: () => holder,
    onServer: { value: initial },
  };
}

/** The key of a stream about a name. */
const keyOf = (name) => isGiven(name) ? `${typeof name} ${String(name)}` : null;

const useIsStale = () => useLatest("", (client) => client.isStale, false);

/** Renders again when one of these presences reads differently. One timer, however many there are. */
function useAging(presences, options) {
  const client = useRollcall();
  const [, age] = useReducer((count) => count + 1, 0);
  useEffect(() => {
    if (!client) return undefined;
    const validity = Math.min(2 ** 31 - 1, ...presences.map((presence) => lastSeenValidity(presence, client.now, options)));
    const timer = setTimeout(age, validity);
    return () => clearTimeout(timer);
  });
}

/** The options of a hook, with the client's language. */
function useOptions(options) {
  const language = useContext(Context)?.language;
  return language === undefined ? options : { language, ...options };
}

const NOTHING_ANNOUNCED = {};

export function useTyping(conversation, given = {}) {
  const options = useOptions(given);
  const none = useMemo(() => ({ conversation, typists: [], count: 0 }), [conversation]);
  const typing = useLatest(keyOf(conversation), (client) => client.typing(conversation), none);
  const announced = useRef(NOTHING_ANNOUNCED);
  if (announced.current === NOTHING_ANNOUNCED || announced.current.conversation !== conversation) {
    announced.current = { conversation, announcer: new TypingAnnouncer(), text: "" };
  }
  announced.current.text = announced.current.announcer.announcement(typing, options) ?? announced.current.text;
  return {
    typing, text: typingText(typing, options), label: typingLabel(typing, options), announcement: announced.current.text,
    refusal: typing.refusal,
  };
}

export function useTypingInput(conversation) {
  const client = useRollcall();
  const input = useRef(null);
  useEffect(() => {
    const made = client && isGiven(conversation) ? tried(client, () => client.typingInput(conversation)) : null;
    input.current = made;
    return () => {
      made?.disappeared();
      input.current = null;
    };
  }, [client, conversation]);
  return useMemo(() => ({
    edited: (text) => input.current?.edited(text), restored: (text) => input.current?.restored(text),
    // As a handler of an event, it is called with the event.
    keepTyping: (kind) => input.current?.keepTyping(typeof kind === "object" ? undefined : kind), stopTyping: () => input.current?.stopTyping(),
    send: () => input.current?.send(), sendConfirmed: async (options) => await input.current?.sendConfirmed(options) ?? false,
  }), []);
}

export function usePresence(user, options) {
  const key = isGiven(user) && !awaitsConversation(options) ? JSON.stringify([user, options]) : null;
  return useLatest(key, (client) => presenceView(client, nameOf(user), options), UNKNOWN);
}

/** Whether the conversation that shares these users is not known yet. */
const awaitsConversation = (options) => options !== undefined && "in" in options && !isGiven(options.in);

/** One of the names that are none is a problem, and the others are shown. */
function validUsers(client, names) { return names.filter((name) => tried(client, () => validUser(name)) !== null); }

const validRows = (client, pairs) => pairs.filter(([conversation]) => tried(client, () => validName(conversation)) !== null)
  .map(([conversation, people]) => [conversation, validUsers(client, people)]);

/** One name, where a list is possible too. */
function nameOf(name) {
  if (typeof name === "string") return name;
  throw new RollcallError("invalid_name", `no name: ${name}`);
}

export function usePeople(given, options) {
  const client = useRollcall();
  const names = [...given ?? []].filter(isGiven);
  const key = awaitsConversation(options) ? null : JSON.stringify([names, options]);
  const last = useRef(NONE);
  // A user who was shown stays, while the others come.
  const views = useLatest(key, () => presenceView(client, validUsers(client, names), options), last.current);
  last.current = views;
  return (user) => views.get(user) ?? UNKNOWN;
}

export function useMembers(conversation, given) {
  const options = useOptions(given);
  const client = useRollcall();
  const none = useMemo(() => ({ conversation, people: [], count: 0 }), [conversation]);
  const members = useLatest(keyOf(conversation), (client) => client.members(conversation), none);
  const isStale = useIsStale();
  const presences = isStale ? [] : members.people.map(({ presence }) => presence);
  useAging(presences, options);
  return {
    people: members.people.map(({ user, name }, index) => ({ user, name, ...shown(presences[index], client, options) })),
    count: members.count, refusal: members.refusal,
    text: presences.some((each) => each) ? groupCount(presences, members.count, { ...options, listed: presences.length }).text : "",
  };
}

export function useHere(conversation, { enter = true, data = undefined, ...given } = {}) {
  const options = useOptions(given);
  const client = useRollcall();
  const none = useMemo(() => ({ conversation, users: [], count: 0, others: [], otherCount: 0 }), [conversation]);
  const here = useLatest(keyOf(conversation), (client) => client.here(conversation), none);
  const entry = useRef(null);
  useEffect(() => {
    if (!client || !enter || !isGiven(conversation)) return undefined;
    const made = tried(client, () => client.enter(conversation, { data }));
    entry.current = made;
    return () => {
      made?.close();
      entry.current = null;
    };
  }, [client, conversation, enter]);
  useEffect(() => { tried(client, () => entry.current?.show(data)); }, [shownJSON(data)]);
  const { others, otherCount, refusal } = here;
  return { here, others, otherCount, refusal, text: hereText(here, options), label: hereLabel(here, options) };
}

/** What data says; data that says nothing in JSON is a problem of the entry. */
function shownJSON(data) {
  try {
    return JSON.stringify(data);
  } catch {
    return "";
  }
}

function shown(presence, client, options) { return client ? shownPresence(presence, client.now, options) : UNKNOWN; }

export function useConversations(rows, given) {
  const options = useOptions(given);
  const client = useRollcall();
  const pairs = [...rows instanceof Map ? rows : Object.entries(rows ?? {})].filter(([conversation]) => isGiven(conversation))
    .map(([conversation, people]) => [conversation, [...people ?? []].filter(isGiven)]);
  const last = useRef(NONE);
  const states = useLatest(
    JSON.stringify(pairs), () => client.conversations(new Map(validRows(client, pairs))), last.current);
  last.current = states;
  const isStale = useIsStale();
  useAging(isStale ? [] : [...states.values()].flatMap(({ presences }) => [...presences.values()]), options);
  // What each row shows; a row of which nothing has changed is the same object, for components that compare.
  const before = useRef(NONE);
  const views = new Map([...states].map(([conversation, { typing, presences }]) => {
    const people = new Map([...presences].map(([user, each]) => [user, shown(isStale ? undefined : each, client, options)]));
    const facts = {
      text: typingText(typing, options), label: typingLabel(typing, options), refusal: typing.refusal, people,
    };
    const known = before.current.get(conversation);
    if (known && isEqual(known.facts, facts)) return [conversation, known];
    const { text, label, refusal } = facts;
    return [conversation, { facts, row: { text, label, refusal, presence: presenceIn(people) } }];
  }));
  before.current = views;
  return (conversation) => views.get(conversation)?.row ?? NO_ROW;
}

/** Outside of the hook: a row that stays would keep the render that made it, and through its rows all earlier ones. */
const presenceIn = (people) => (user) => people.get(user) ?? UNKNOWN;

const NO_ROW = { text: "", label: "", refusal: undefined, presence: () => UNKNOWN };

export function usePerson(given) {
  const options = useOptions(given);
  const client = useRollcall();
  const person = useLatest("", (client) => client.person, NOBODY);
  const set = useMemo(() => (change) => { tried(client, () => client?.setPerson(change)); }, [client]);
  useAging([{ ...person, status: "online" }], options);
  return { person, set, text: client ? availabilityText(person, client.now, options) : "" };
}

const NOBODY = {};

export function useConnection(given) {
  const options = useOptions(given);
  const client = useRollcall();
  const state = useLatest("", (client) => client.connection, IDLE);
  const isStale = useIsStale();
  return {
    state, isConnected: state.status === "connected", staleSince: client?.staleSince ?? null,
    text: isStale || state.status === "failed" ? connectionText(state, options) : "",
  };
}
