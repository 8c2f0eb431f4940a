// Hooks for React 18 and later: what a component shows, as finished sentences in the page's language. `react.d.ts` documents
// them. While a page is rendered on a server there is no client, and no user is known.

import {
  createContext, createElement, useContext, useEffect, useMemo, useReducer, useRef, useState, useSyncExternalStore,
} from "react";
import {
  groupCount, lastSeenText, lastSeenValidity, presenceDot, presenceText, RollcallClient, TypingAnnouncer, typingLabel,
  typingText,
} from "./rollcall.js";

/** The client; null before there is one, and undefined without a provider. */
const Context = createContext(undefined);
const NONE = new Map();
const IDLE = { status: "idle" };

export function RollcallProvider({ options, children }) {
  const [client, setClient] = useState(null);
  // A callback of a later render knows what an earlier one did not.
  const newest = useRef(options);
  newest.current = options;
  useEffect(() => {
    const client = new RollcallClient({
      ...newest.current,
      token: () => {
        const { token } = newest.current;
        return typeof token === "function" ? token() : token;
      },
      names: (user) => newest.current.names?.(user),
    });
    client.connect();
    const unfollow = client.followPage();
    setClient(client);
    return () => {
      unfollow();
      client.close();
      setClient(null);
    };
  }, [JSON.stringify(options.url)]);
  return createElement(Context.Provider, { value: client }, children);
}

export function useRollcall() {
  const client = useContext(Context);
  if (client === undefined) throw new Error("Rollcall's hooks need a <RollcallProvider options={…}> around the component");
  return client;
}

/**
 * The latest value of a stream, which is observed while the component is shown.
 *
 * @param key what the stream is about: with another, it is another stream
 * @param of returns the stream of a client
 */
function useLatest(key, of, initial) {
  const client = useRollcall();
  const store = useMemo(() => {
    // Each value has a new holder: what an equal one means may have changed.
    let holder = { value: (client && of(client).latest) ?? initial };
    return {
      subscribe: (changed) => client ? of(client).subscribe((value) => {
        holder = { value };
        changed();
      }) : () => {},
      snapshot: () => holder,
      onServer: { value: initial },
    };
  }, [client, key]);
  return useSyncExternalStore(store.subscribe, store.snapshot, () => store.onServer).value;
}

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

/** How a presence is shown. */
function shown(presence, client, options) {
  const [text, dot] = [client ? lastSeenText(presence, client.now, options) : "", presenceDot(presence)];
  return { presence, text, dot, label: dot === "none" ? "" : presenceText(presence, options) };
}

export function useTyping(conversation, options = {}) {
  const none = useMemo(() => ({ conversation, typists: [], count: 0 }), [conversation]);
  const typing = useLatest(conversation, (client) => client.typing(conversation), none);
  const announced = useRef({ conversation: null, announcer: null, text: "" });
  if (announced.current.conversation !== conversation) {
    announced.current = { conversation, announcer: new TypingAnnouncer(options), text: "" };
  }
  announced.current.text = announced.current.announcer.announcement(typing) ?? announced.current.text;
  return {
    typing, text: typingText(typing, options), label: typingLabel(typing, options), announcement: announced.current.text,
    refusal: typing.refusal,
  };
}

export function useTypingInput(conversation) {
  const client = useRollcall();
  const input = useRef(null);
  useEffect(() => {
    const made = client?.typingInput(conversation) ?? null;
    input.current = made;
    return () => {
      made?.disappeared();
      input.current = null;
    };
  }, [client, conversation]);
  return useMemo(() => ({
    edited: (text) => input.current?.edited(text), restored: (text) => input.current?.restored(text),
    keepTyping: (kind) => input.current?.keepTyping(kind), stopTyping: () => input.current?.stopTyping(),
    send: () => input.current?.send(), sendConfirmed: async (options) => await input.current?.sendConfirmed(options) ?? false,
  }), []);
}

export function usePresence(user, options) {
  const client = useRollcall();
  useLatest(user, (client) => client.presence(user), undefined);
  // After an outage it is unknown until it is confirmed, which is no value of the stream.
  const presence = useIsStale() ? undefined : client?.presence(user).latest;
  useAging([presence], options);
  return shown(presence, client, options);
}

export function useMembers(conversation, options) {
  const client = useRollcall();
  const none = useMemo(() => ({ conversation, people: [], count: 0 }), [conversation]);
  const members = useLatest(conversation, (client) => client.members(conversation), none);
  const isStale = useIsStale();
  const presences = isStale ? [] : members.people.map(({ presence }) => presence);
  useAging(presences, options);
  return {
    people: members.people.map(({ user, name }, index) => ({ user, name, ...shown(presences[index], client, options) })),
    count: members.count, refusal: members.refusal,
    text: presences.some((each) => each) ? groupCount(presences, members.count, { ...options, listed: presences.length }).text : "",
  };
}

export function useConversations(rows, options) {
  const client = useRollcall();
  const key = JSON.stringify([...rows instanceof Map ? rows : Object.entries(rows)]);
  const last = useRef(NONE);
  const states = useLatest(key, (client) => client.conversations(rows), last.current);
  last.current = states;
  const isStale = useIsStale();
  useAging(isStale ? [] : [...states.values()].flatMap(({ presences }) => [...presences.values()]), options);
  return (conversation) => {
    const { typing, presences } = states.get(conversation) ?? { typing: { typists: [], count: 0 }, presences: NONE };
    return {
      text: typingText(typing, options), label: typingLabel(typing, options), refusal: typing.refusal,
      presence: (user) => shown(isStale ? undefined : presences.get(user), client, options),
    };
  };
}

export function useConnection() {
  const client = useRollcall();
  const state = useLatest("", (client) => client.connection, IDLE);
  return { state, isConnected: state.status === "connected", staleSince: client?.staleSince ?? null };
}
