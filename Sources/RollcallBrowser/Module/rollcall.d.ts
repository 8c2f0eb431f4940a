// What `rollcall.js` offers, for TypeScript and for editors. What each thing does stands beside it in that file.

declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

// ---- The client

export interface ClientOptions {
  /**
   * Where a worker, or a load balancer before several, listens: `wss://chat.example/v1/connect`, or a path on the
   * page's own host. Several workers without a load balancer: all of theirs; the client begins with one that it draws.
   */
  url: string | readonly string[];
  /** This device's name among the user's; left out where the token names it. */
  device?: string;
  /**
   * The token that names the user, or what gives it: asked for the first connection, whenever the worker says that it
   * has expired, and some time before that if it is a JWT that says when. What it throws counts as weather, and it is
   * asked again, unless it is a RollcallError that says otherwise. So does a callback that has not answered within
   * `connectTimeout`.
   */
  token: string | (() => string | Promise<string>);
  /** When the person counts as typing. */
  typing?: TypingSettings;
  /**
   * The app's names for people, asked once for each person on show and remembered. Where it has none (null), the name
   * in the conversation's members counts, which is also shown until the answer comes. What it throws is reported as an
   * error of the page, and it is asked again for that person after a second to five minutes. So is a call that has not
   * answered within `connectTimeout`.
   */
  names?: (user: string) => string | null | undefined | Promise<string | null | undefined>;
  /** How long without a reported input until the device is idle (5 minutes); null: never. */
  idleAfter?: number | null;
  /** The ceiling of the first pause before a reconnect (250); each further failure doubles it. */
  firstPause?: number;
  /** The ceiling of every pause (1500). */
  longestPause?: number;
  /** How long the token callback may take, and then the attempt to connect (10 s each). */
  connectTimeout?: number;
  /**
   * Hosts to which a worker may send the client, beside those of `url`. "*." before a domain stands for all hosts within
   * it. The client shows its token there: it goes to no other host, whatever a worker says.
   */
  workerHosts?: readonly string[];
  /** What to connect with, in place of the browser's: for tests of an app. */
  WebSocket?: new (url: string) => WebSocket;
}

/** All in milliseconds, checked together. */
export interface TypingSettings {
  /** How long the field must have held text before the first signal (300; 0 for at once). */
  debounce?: number;
  /** How often the signal is renewed while the person types (1000): at most `expiry` less a second. */
  throttle?: number;
  /** How long after the last edit the person still counts as typing (3000). */
  inactivity?: number;
  /** The workers' `typing.expiry` (3000), which limits `throttle`. */
  expiry?: number;
}

export class RollcallClient extends EventTarget {
  /** @throws {InvalidTypingSettings} */
  constructor(options: ClientOptions);

  /** Begins to connect, or to try again after `failed`. The device's presence begins with it. */
  connect(): void;
  /**
   * Ends the connection but not the client: `connect` begins again. Without a goodbye it goes as a lost network does,
   * and the worker keeps the device for its grace.
   */
  disconnect(options?: { goodbye?: boolean }): Promise<void>;
  /** Says goodbye and ends for good. Resolves once the goodbye has gone out, after two seconds at most. */
  close(): Promise<void>;
  [Symbol.dispose](): void;

  /** How the client stands with its worker. */
  get connection(): Updates<ConnectionState>;
  /** The worker's time now, in milliseconds since 1970; until the first welcome, this device's. */
  get now(): number;
  /** What this device says of itself. */
  get deviceState(): DeviceState;

  /** Who types in a conversation. While it is observed, the conversation is joined. */
  typing(conversation: string, options?: Abortable): Updates<Typing>;
  /**
   * Who belongs to a conversation, and who of them is here. While it is observed, the conversation is joined. The first
   * value comes when everybody's presence is known, or after a second.
   */
  members(conversation: string, options?: Abortable): Updates<Members>;
  /**
   * The presence of a user. While there is no connection, what was last known stands. Told again, unchanged, when the
   * worker's clock was set, since texts like "last seen" are others then.
   */
  presence(user: string, options?: Abortable): Updates<Presence>;
  /** The presence of several, as a map in which those still unknown are absent. */
  presence(users: Iterable<string>, options?: Abortable): Updates<Map<string, Presence>>;
  /** The presence of a user, once; undefined if no answer came within the time, which is weather. */
  currentPresence(user: string, options?: Abortable & { within?: number }): Promise<Presence | undefined>;
  /** The presence of many, once; those of whom no answer came are absent. */
  currentPresence(users: Iterable<string>, options?: Abortable & { within?: number }): Promise<Map<string, Presence>>;
  /** One's own typing in a conversation, to be fed by one input field. */
  typingInput(conversation: string, options?: Abortable): TypingInput;

  /** The app's phase. Background ends one's typing at once; a return to the front checks the connection. */
  setPhase(phase: AppPhase): void;
  /** The device's state outright, for an app that knows better than phases and input tell. */
  setState(state: DeviceState): void;
  /** The person touched this device. An app that calls this is idle `idleAfter` the last such call. */
  inputHappened(): void;
  /** The network came back or changed. The browser's own word on that is heard already. */
  networkChanged(): void;
  /** Takes phases and input from the page, until the function that it returns is called. */
  followPage(): Ending;

  addEventListener<Type extends keyof ClientEvents>(
    type: Type, listener: (event: ClientEvents[Type]) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(
    type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions,
  ): void;
}

export interface ClientEvents {
  /** A mistake that did not end the connection, for a log. */
  problem: CustomEvent<RollcallError>;
  /** The text of a message, for debugging. */
  wire: CustomEvent<{ sent: string } | { received: string }>;
}

export interface Abortable {
  /** Ends it when aborted. */
  signal?: AbortSignal;
}

/** What ends something, when it is called or, with `using`, when it leaves scope. */
export interface Ending {
  (): void;
  [Symbol.dispose](): void;
}

/** What this device says of itself. */
export type DeviceState = "active" | "idle" | "background";

/** `inactive`, a glance elsewhere, changes nothing. */
export type AppPhase = "active" | "inactive" | "background";

/** What the connection is doing. */
export type ConnectionState =
  /** `connect` has not been called, or `disconnect` has. */
  | { status: "idle" }
  /** Fetching a token, opening a connection or waiting for the worker's welcome. */
  | { status: "connecting" }
  | { status: "connected"; session: Session }
  /** No connection now; the next attempt comes after so many milliseconds, or when the network is back. */
  | { status: "waiting"; retryIn: number; error: RollcallError }
  /** Given up until somebody puts the error right and calls `connect` again. */
  | { status: "failed"; error: RollcallError }
  /** `close` was called: the end. */
  | { status: "closed" };

/** Who this client is to its worker. */
export interface Session {
  user: string;
  device: string;
  /** The worker's name for this session, for logs. */
  session: string;
  /** The worker's name, for logs. */
  worker: string;
}

/** A user's presence. Times are milliseconds since 1970 on the server's clock. */
export interface Presence {
  user: string;
  status: "online" | "away" | "offline";
  /** While the user is not offline, read it as now; null for a user never seen. */
  lastSeen: number | null;
  updatedAt: number | null;
  version: number;
}

/** Who types in a conversation now, the reader's own user never among them. */
export interface Typing {
  conversation: string;
  /** Those of whom the worker gave the names, by when they began: whoever goes on typing keeps their place. */
  typists: readonly Typist[];
  /** How many type, named or not. */
  count: number;
  /** Why the worker shows nothing of this conversation (`not_a_member`, `limit`), if it does not. */
  refusal?: RollcallError;
}

export interface Typist {
  user: string;
  name?: string;
}

/** Who belongs to a conversation, and who of them is here. */
export interface Members {
  conversation: string;
  /**
   * By their identifiers, the reader's own user among them; of a very large conversation as many as the worker's limits
   * let one session watch.
   */
  people: readonly Member[];
  /** How many there are, listed or not; 0 where no members are set. */
  count: number;
  /** Why the worker shows nothing of this conversation (`not_a_member`, `limit`), if it does not. */
  refusal?: RollcallError;
}

export interface Member {
  user: string;
  /** The app's name, else as the conversation's members have it. */
  name?: string;
  /** Absent while unknown. */
  presence?: Presence;
}

/** The latest value of something, and every change that its reader is quick enough to see. */
export class Updates<Value> implements AsyncIterable<Value> {
  private constructor();
  /** The value as it is known now, without observing; undefined where nobody observes it, or nothing has come yet. */
  get latest(): Value | undefined;
  /** Calls `listener` with the latest value soon, and with every change. */
  subscribe(listener: (value: Value) => void, options?: Abortable): Ending;
  [Symbol.asyncIterator](): AsyncIterableIterator<Value>;
}

/** One input field of one conversation. While its view is shown, the conversation is joined. */
export class TypingInput {
  private constructor();
  readonly conversation: string;
  /** The field's whole text after an edit. Returns at once; nothing of the text is kept. */
  edited(text: string): void;
  /** The text is about to be sent: the typing ends now. */
  send(): void;
  /**
   * `send`, and waits until the end of the typing is published, so that no observer sees it outlive the message. False
   * if that could not be made sure of within so many milliseconds; an app sends its message in either case.
   */
  sendConfirmed(options?: { within?: number }): Promise<boolean>;
  /** The field's view is shown (again). A new input counts as shown. */
  appeared(): void;
  /** The field's view is left: the typing ends now. */
  disappeared(): void;
  [Symbol.dispose](): void;
}

// ---- Errors

/** Stable: programs match on it. */
export type RollcallErrorCode =
  /** The URL is none of a worker. */
  | "invalid_url"
  /** A user's, a device's or a conversation's name that breaks the rules of names. Thrown where it was given. */
  | "invalid_name"
  /** The worker does not take the token (close code 4100). */
  | "bad_token"
  /** The token has expired, and so had the one that the callback gave after it (4101). */
  | "token_expired"
  /** The worker found a message of ours wrong, or this one is no Rollcall worker (4102). */
  | "protocol_error"
  /** More messages than the worker allows (4103). */
  | "too_many_messages"
  /** A newer session of the same device is connected (4104). */
  | "replaced"
  /** The user has more sessions than the worker allows (4105). */
  | "too_many_sessions"
  /** An operator ended the session (4106). */
  | "sent_away"
  /** The worker ended the session for another reason that a reconnect would not mend. */
  | "refused"
  /** The user is no member of the conversation. */
  | "not_a_member"
  /** More users or conversations at once than a session may observe. */
  | "limit"
  /** The worker did not take a single message. */
  | "bad_request"
  /** The token callback threw, or did not answer in time. */
  | "token_unavailable"
  /** No worker answered at the URL. */
  | "unreachable"
  /** The connection ended, or nothing came over it any more. */
  | "connection_lost"
  /** The worker asked to come back later or elsewhere. */
  | "asked";

/** A mistake or, as the reason of a `waiting` connection, the weather of the moment. */
export class RollcallError extends Error {
  constructor(code: RollcallErrorCode, message: string, details?: { closeCode?: number; cause?: unknown });
  readonly code: RollcallErrorCode;
  /** The WebSocket close code, where the worker gave one. */
  readonly closeCode: number | undefined;
  /** Whether trying the same again may help. Where it may, the client is doing so. */
  get retry(): boolean;
}

/** What is wrong with typing settings, all of it. */
export class InvalidTypingSettings extends RangeError {
  constructor(problems: string[]);
  readonly problems: readonly string[];
}

// ---- Texts

export interface InLanguage {
  /** A BCP 47 tag, or several in order of preference (`navigator.languages`); English where none is known. */
  language?: string | readonly string[];
}

export interface TypingTextOptions extends InLanguage {
  /** How many names at most (3). Of more typists than that, two are named and the rest counted. */
  maximumNames?: number;
  /** From how many typists on it says `Several people are typing`; left out: never. */
  severalFrom?: number;
  /** By when they began (the default), or by name in the language's collation. */
  order?: "beginning" | "name";
  /** Names longer than this many characters, as a reader counts them, are shortened (40). */
  longestName?: number;
  /** The app's name for a user; where it has none, the typist's own counts. */
  name?: (user: string) => string | null | undefined;
}

export interface LastSeenOptions extends InLanguage {
  /** `discreet`, the default: `Last seen today`. `exact`: `Last seen 3 hours ago`. */
  style?: "discreet" | "exact";
}

/** `Alice and Bob are typing…`; empty if nobody types. */
export function typingText(
  typing: Typing, options?: TypingTextOptions & { dots?: "ellipsis" | "three" | "none" }): string;
/** The line for a screen reader: without dots and invisible characters. */
export function typingLabel(typing: Typing, options?: TypingTextOptions): string;

/** Decides when to tell a screen reader who is typing: when others type, and not on every dot, name or reordering. */
export class TypingAnnouncer {
  constructor(options?: TypingTextOptions);
  /** What to announce, or null for nothing new; empty when nobody is left. */
  announcement(typing: Typing): string | null;
}

/** When someone was last here; empty for a user who is unknown or was never seen. `now` is the client's. */
export function lastSeenText(presence: Presence | undefined, now: number, options?: LastSeenOptions): string;
/** How many milliseconds that text stays right if nothing but time changes it; Infinity: for ever. */
export function lastSeenValidity(presence: Presence | undefined, now: number, options?: LastSeenOptions): number;
/** `Online`, `Away`, `Offline`; empty for an unknown user. */
export function presenceText(presence: Presence | undefined, options?: InLanguage): string;
/** The colour role of the dot beside a face; which green it is, the app's design decides. */
export function presenceDot(presence: Presence | undefined): "green" | "amber" | "grey" | "none";
/** How many of a group are here: `3 of 5 online`. Those unknown count in the total alone. */
export function groupCount(
  presences: Iterable<Presence | undefined>, total: number, options?: InLanguage,
): { online: number; total: number; text: string };
/** Three dots that swell in turn, 0.4 s each: whose turn it is (null: still), and the three opacities. */
export function typingDots(
  elapsed: number, options?: { reducesMotion?: boolean }): { phase: number | null; opacities: number[] };

// ---- Languages

/** Adds a language, or replaces one. Throws a RangeError that names everything that is missing. */
export function addLanguage(words: LanguageWords): void;
/** The languages there are, in the order in which they are offered. */
export function languages(): { id: string; name: string; direction: "ltr" | "rtl" }[];

/** What depends on a number, by CLDR's plural category. */
export type Forms = { other: string } & Partial<Record<"zero" | "one" | "two" | "few" | "many", string>>;

/** The words of a language. `{name}`, `{list}`, `{count}`, `{online}` and `{total}` are filled in. */
export interface LanguageWords {
  /** BCP 47. */
  id: string;
  /** The language in its own words. */
  name: string;
  direction: "ltr" | "rtl";
  /** What stands between names; before one that begins so and not otherwise, `use`. */
  list: {
    pair: string;
    middle: string;
    last: string;
    before?: { starts: string[]; except: string[]; use: string };
  };
  typing: {
    one: string;
    list: Forms;
    someone: string;
    people: Forms;
    several: string;
    person: string;
    others: Forms;
    someoneElse: string;
    beforeDots: string;
  };
  lastSeen: {
    now: string;
    minutes: Forms;
    recently: string;
    today: string;
    earlier: string;
    minutesAgo: Forms;
    hoursAgo: Forms;
    daysAgo: Forms;
  };
  presence: { online: string; away: string; offline: string; group: Forms };
}
