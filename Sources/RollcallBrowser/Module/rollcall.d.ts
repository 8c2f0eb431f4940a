// Type declarations of `rollcall.js`, for TypeScript and editors. All durations are in milliseconds.

declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

// ---- The client

export interface ClientOptions {
  /**
   * The `wss://` or `ws://` URL of a worker or of a load balancer, such as `wss://chat.example/v1/connect`, or a path
   * on the page's own host. For several workers without a load balancer, the URLs of all; the client tries them in
   * random order. If a URL is invalid, `connect` leads to the state `failed` with the code `invalid_url`.
   */
  url: string | readonly string[];
  /**
   * The device's name, which is unique among the user's devices. By default each client draws a name of its own, unless the
   * token names the device. Give one only to a device that connects as itself again and again, such as a kiosk: a newer
   * session of the same device ends the older one for good (`replaced`).
   */
  device?: string;
  /**
   * A token for the user, or a function that returns one. The function is called before the first connection and after
   * `disconnect`, some time before the token expires (if it is a JWT with an expiry), and when a worker has refused the token:
   * `request` says why. One call serves all who wait, and its answer counts whenever it comes. It is called again beside it if it
   * has not answered after a minute, or after 10 s if the network changes or the user returns; at most two calls wait.
   *
   * If it throws, or returns nothing (`undefined`, `null` or `""`: there is no token yet), the client calls it again after ever
   * longer pauses, up to 15 s. An error may have a `retryAfter`: how many milliseconds the token server asks to be left alone, five
   * minutes at most. If the callback had no network (`fetch` or Firebase says so, or the error is a `RollcallError` `unreachable`),
   * it is called again as soon as a connection would be tried. `new RollcallError("bad_token", "signed out")` ends the session and
   * the attempts, also while connected, until `connect`.
   *
   * A token of another user than the last session's leads to `failed` with `another_user`, and everything shown is empty. Call
   * `disconnect` before another user signs in.
   */
  token: string | ((request: TokenRequest) => string | null | undefined | Promise<string | null | undefined>);
  /** When the user counts as typing. */
  typing?: TypingSettings;
  /**
   * Returns the app's name for a user, or null if the app has none. Then, and until the answer arrives, the name from
   * the conversation's member list or the user's sign-in is shown; without either, the first "is typing" waits for the answer,
   * 100 ms at most. Called once for each user who is shown; the answer is shown whenever it comes. What it
   * throws is reported with `reportError` (in Node.js: `console.error`), and counts as none until it is called again: after 2 s,
   * and after ever longer pauses of up to a minute, while the user is shown. See `namesChanged`.
   */
  names?: (user: string) => string | null | undefined | Promise<string | null | undefined>;
  /** The time without reported input until the device is idle (default: 5 minutes); null for never. */
  idleAfter?: number | null;
  /**
   * The upper limit of the pauses between attempts (default: 30 s). A pause is random, from none to a tenth of the outage so far,
   * or to 1.5 s if that is more (the worker's `edge.reconnect`). Pauses grow to 15 s instead after the token callback has failed, and
   * where a worker refuses the handshake or has no room. A time that the worker names counts before all.
   */
  longestPause?: number;
  /**
   * The time limit for each connection attempt (default: 10 s). Doubles each time that it has passed,
   * up to 40 s, until a worker welcomes the client. While another address is left to try, an attempt takes 2 s at most, and
   * twice that each time that all addresses have failed.
   */
  connectTimeout?: number;
  /** How long there is no connection until presence counts as stale (default: 5 s); null for never. See `isStale`. */
  staleAfter?: number | null;
  /**
   * Hosts to which a worker may redirect the client, besides those of `url`. "*.example.com" means all hosts in that
   * domain. The client sends its token there, so it ignores redirects to other hosts.
   */
  workerHosts?: readonly string[];
  /** The language of texts that the client makes, as for the texts' own option `language`. */
  language?: string | readonly string[];
  /** Replaces the platform's WebSocket. For an app's tests there is `FakeWorker` in `rollcall/testing`. */
  WebSocket?: new (url: string) => WebSocket;
}

/** Why the token callback is called. */
export interface TokenRequest {
  /**
   * `first`: for a session of its own. `renewal`: the present token expires soon, or has. `refused`: a worker did not take the last
   * token, so another is needed (Firebase: `getIdToken(true)`).
   */
  reason: "first" | "renewal" | "refused";
  /** Why a worker refused it. */
  code?: RollcallErrorCode;
}

/** Durations in milliseconds. They are validated together, since each limits the others. */
export interface TypingSettings {
  /** How long the field must contain text before the first signal (default: 300; 0 for at once). */
  debounce?: number;
  /** How often the signal is renewed while the user types (default: 1000). At most `expiry` less one second. */
  throttle?: number;
  /** How long after the last edit the user still counts as typing (default: 3000). */
  inactivity?: number;
  /** The workers' `typing.expiry` (default: 3000), which limits `throttle`. */
  expiry?: number;
}

/**
 * A device's connection to Rollcall. It reconnects without limit; every call that returns no promise returns at once.
 */
export class RollcallClient {
  /**
   * @throws {InvalidTypingSettings} if the typing settings contradict each other
   * @throws {RollcallError} `invalid_name`, if `device` is not a valid name
   */
  constructor(options: ClientOptions);
  /** As given in the options. */
  readonly language: string | readonly string[] | undefined;

  /**
   * Connects, or tries again at once: after `failed`, or while `waiting`, but in a pause that a worker asked for at most every 10 s.
   * The device's presence begins with the connection.
   */
  connect(): void;
  /**
   * Ends the connection but not the client: `connect` connects again, with a new call of the token callback. Without a goodbye (`goodbye: false`), the worker
   * treats it as a lost connection and keeps the device for its grace period. Resolves once the connection is closed.
   */
  disconnect(options?: { goodbye?: boolean }): Promise<void>;
  /**
   * Says goodbye and closes the client for good. Streams end with an empty value: nobody types, a conversation has no members, and
   * a user was never seen. Resolves once the goodbye is sent, after two seconds at most.
   */
  close(): Promise<void>;
  [Symbol.dispose](): void;

  /** The state of the connection. */
  get connection(): Updates<ConnectionState>;
  /**
   * The current time on the worker's clock, in milliseconds since 1970. Before the first welcome, this device's clock.
   */
  get now(): number;
  /**
   * Since when what the client shows of others may be old, because the connection is down: when something last arrived, on
   * the worker's clock. Null while connected, and before the first connection. Changes with `connection`.
   */
  get staleSince(): number | null;
  /**
   * Whether there has been no connection for `staleAfter`, also before the first; or whether this process slept for as long, and
   * the worker has not answered since. Views should then show no user's presence, as the hooks for React do.
   *
   * After the connection was down for so long, nobody's presence is known until a new connection has confirmed it, user by
   * user: maps of several users, members and `latest` lack it, while a stream of one user emits it again when it comes.
   */
  get isStale(): Updates<boolean>;
  /** The state of this device, as reported to the worker. */
  get deviceState(): DeviceState;

  /** The users who are typing in a conversation. While it is observed, the conversation is joined. */
  typing(conversation: string, options?: Abortable): Updates<Typing>;
  /**
   * The members of a conversation and their presence. While it is observed, the conversation is joined. The first value
   * comes once the presence of all members is known, but at most one second after their names.
   */
  members(conversation: string, options?: Abortable): Updates<Members>;
  /**
   * Who has a conversation open, the client's own user included. While it is observed, the conversation is joined. Once the
   * connection has been down for `staleAfter`, nobody is known to be here until a new one has answered.
   */
  here(conversation: string, options?: Abortable): Updates<Here>;
  /**
   * Has this device enter a conversation: its user has it open, until the entry is closed. Others see `data`, such as a section
   * or a colour: a small object (`limits.here_data`, 512 bytes as JSON, nested at most eight deep). The conversation stays joined
   * meanwhile, and the client enters again after a reconnect. A refusal is a `problem`. A device in the background is not here.
   *
   * @throws {TypeError} if the data is no object that JSON can say
   */
  enter(conversation: string, options?: Abortable & { data?: object }): HereEntry;
  /**
   * The presence of a user. While the client is disconnected, the last known presence stays, but see `isStale`. Emitted again
   * without a change if the worker's clock was set, since texts such as "last seen" then change.
   */
  presence(user: string, options?: Abortable & In): Updates<Presence>;
  /**
   * The presence of several users, as a map, at most once in 16 ms. Users whose presence is not known are absent from it.
   */
  presence(users: Iterable<string>, options?: Abortable & In): Updates<Map<string, Presence>>;
  /**
   * Who is typing in each conversation of a list, and the presence of these people: the current state of all rows, then
   * every change, as a new map, at most once in 16 ms. A row that has not changed is the same object. Each conversation is joined while it is observed,
   * and shares its row's people with this session. When rows scroll in and out, observe the
   * new rows before you end the old ones: what both have is neither given up nor asked for again.
   */
  conversations(
    rows: Map<string, Iterable<string>> | Record<string, Iterable<string>>, options?: Abortable,
  ): Updates<Map<string, ConversationState>>;
  /** Reads the presence of a user once. Undefined if there is no answer `within` this time (default: 5000). */
  currentPresence(user: string, options?: Abortable & In & { within?: number }): Promise<Presence | undefined>;
  /**
   * Reads the presence of several users once. Users without an answer `within` this time (default: 5000) are absent.
   */
  currentPresence(users: Iterable<string>, options?: Abortable & In & { within?: number }): Promise<Map<string, Presence>>;
  /**
   * What this client's user has decided that others see, and then every change on any device. As if nothing were set until the
   * worker has told, right after the connection. Whom the user has blocked, only the app's server knows.
   */
  get person(): Updates<Person>;
  /**
   * Sets what others see of this client's user: on all devices, until it is set again. `person` shows it at once, and others see
   * it within a second of a worker taking it. It is sent again after a reconnect until a worker has taken it. A worker takes four changes
   * at once, then one in 5 s. What it does not allow (`person.self`) is a `problem`, and then no longer shown.
   *
   * @throws {TypeError} for what is no setting
   */
  setPerson(change: PersonChange): void;
  /** Returns a typing input for one input field of a conversation. */
  typingInput(conversation: string, options?: Abortable): TypingInput;

  /**
   * Asks `names` again, for every user: call it when contacts have been loaded or renamed. The names that are shown stay until
   * the answers come.
   */
  namesChanged(): void;
  /** Reports the app's phase. Background ends the user's typing at once; a return from it checks the connection. */
  setPhase(phase: AppPhase): void;
  /** Sets the device's state directly, for apps that know more than phases and input show. */
  setState(state: DeviceState): void;
  /** Reports input on this device. Once an app has called this, the device is idle `idleAfter` the last call. */
  inputHappened(): void;
  /** Reports that the network is back or has changed. The browser's own events for this are handled already. */
  networkChanged(): void;
  /**
   * Reports phases and input from the page's events, until the returned function is called: keys, pointers, wheel, touch, clicks
   * and edits, also in frames of the page's origin. Focus, scrolling and a frame of another origin that has the focus count for
   * at most 30 minutes after the last of these. Hiding the page ends the user's typing at once. On a phone or tablet, which
   * suspends a hidden page, such a page is in the background, and after `restAfter` (default: 30 s; null for never) it disconnects,
   * until it is shown again. Elsewhere it is idle after `idleAfterHidden` (default: a minute), so that switching tabs says
   * nothing; a page that was never visible is idle at once. `hiddenIs` decides between the two.
   *
   * @throws {Error} where there is no page
   */
  followPage(options?: { idleAfterHidden?: number; restAfter?: number | null; hiddenIs?: "idle" | "background" }): Ending;

  addEventListener<Type extends keyof ClientEvents>(
    type: Type, listener: (event: ClientEvents[Type]) => void, options?: boolean | { once?: boolean; signal?: AbortSignal },
  ): void;
  removeEventListener<Type extends keyof ClientEvents>(type: Type, listener: (event: ClientEvents[Type]) => void): void;
}

/**
 * Reports the phases of React Native's `AppState` to a client, until the returned function is called. In the background the client
 * disconnects after `restAfter` (default: 30 s; null for never), until the app is active again.
 */
export function followAppState(client: RollcallClient, AppState: AppStateLike, options?: { restAfter?: number | null }): Ending;
/** What `followAppState` uses of React Native's `AppState`. */
export interface AppStateLike {
  readonly currentState: string;
  addEventListener(type: "change", listener: (state: string) => void): { remove(): void };
}

export interface ClientEvents {
  /**
   * An error that did not end the connection, for logs: also why a conversation is not shown, once for each reason. If nobody
   * listens, it is a warning in the console.
   */
  problem: ClientEvent<RollcallError>;
  /** The text of a sent or received message, for debugging. */
  wire: ClientEvent<{ sent: string } | { received: string }>;
}

export interface ClientEvent<Detail> {
  readonly type: string;
  readonly detail: Detail;
  readonly target: RollcallClient;
}

export interface Abortable {
  /** Ends the observation or the input when aborted. */
  signal?: AbortSignal;
}

export interface In {
  /**
   * A conversation of this user and of those who are observed. Where sessions see only those with whom they share a conversation
   * (`access.watch: shared`), it is joined with presence meanwhile, and they look as if never seen without one. It filters nothing.
   */
  in?: string;
}

/** Ends something when it is called or, with `using`, when it leaves its scope. */
export interface Ending {
  (): void;
  [Symbol.dispose](): void;
}

/** The state of a device, as reported to the worker. */
export type DeviceState = "active" | "idle" | "background";

/** `inactive`, a brief interruption, changes nothing. */
export type AppPhase = "active" | "inactive" | "background";

/** The state of the connection to a worker. */
export type ConnectionState =
  /** `connect` has not been called, or `disconnect` has; also while a phone's page rests in the background. */
  | { status: "idle" }
  /** Fetching a token, opening a connection or waiting for the worker's welcome. */
  | { status: "connecting" }
  | { status: "connected"; session: Session }
  /** Disconnected. The next attempt starts after `retryIn` milliseconds, or when the network is back. */
  | { status: "waiting"; retryIn: number; error: RollcallError }
  /**
   * A worker refused the session, or an argument is wrong. With `retryIn`, the client tries again by itself, with a new token:
   * after so many milliseconds, then ever more rarely, every five minutes in the end; also when the user returns to the app or
   * page. It reports only what is new. Without `retryIn` it waits for `connect`.
   */
  | { status: "failed"; error: RollcallError; retryIn?: number }
  /** `close` was called. This is the last state. */
  | { status: "closed" };

/** The identity of a connected client, as confirmed by the worker. */
export interface Session {
  user: string;
  device: string;
  /** The worker's identifier of this session, for logs. */
  session: string;
  /** The worker's name, for logs. */
  worker: string;
}

/** A user's presence. Times are milliseconds since 1970 on the server's clock. */
export interface Presence {
  user: string;
  status: "online" | "away" | "offline";
  /**
   * When a device of the user was last in use or idle; null for a user who was never seen. Read it as now while the
   * user is not offline.
   */
  lastSeen: number | null;
  updatedAt: number | null;
  /** Grows with each change; 0 for a user who was never seen. */
  version: number;
  /** The user's name, as their sign-in knows it. Absent if it says none, or for a user who was never seen. */
  name?: string;
  /** Whether the user wants to be left alone, whatever the status. */
  availability?: "busy" | "dnd";
  /** What the user says of themselves, where the app allows it. */
  text?: string;
  emoji?: string;
  /** When these three end. */
  until?: number;
}

/** What a user has decided that others see. What is absent is not set. */
export interface Person {
  /** Who sees whether the user is there: those who share a conversation, or nobody. Without it, whoever may ask. */
  presence?: "shared" | "nobody";
  /** The same of when the user was last there. */
  lastSeen?: "shared" | "nobody";
  /** `dnd`: do not disturb; `invisible`: others see nothing of the user. */
  availability?: "busy" | "dnd" | "invisible";
  /** A worker takes texts from devices only if `person.self` is `all`. */
  text?: string;
  emoji?: string;
  /** When `availability`, `text` and `emoji` end: milliseconds since 1970 on the server's clock. */
  until?: number;
}

/** What is not in it stays; null clears. */
export type PersonChange = { [Key in Exclude<keyof Person, "until">]?: Person[Key] | null } & {
  /** At most a year ahead. */
  until?: number | Date | null;
  /** Instead of `until`: so many milliseconds after the worker takes it. */
  for?: number;
};

/** How a presence is shown: empty, and without dot, while it is unknown or the connection has been down for long. */
export interface ShownPresence {
  presence: Presence | undefined;
  /** "Last seen" in words. */
  text: string;
  dot: "green" | "amber" | "grey" | "none";
  /** What the dot means, for screen readers. */
  label: string;
}

/** The users who are typing in a conversation, without the client's own user. */
export interface Typing {
  conversation: string;
  /** The typing users that the worker names, in the order in which they began. Users who continue keep their places. */
  typists: readonly Typist[];
  /** The number of typing users, named or not. */
  count: number;
  /** Why the worker shows nothing of this conversation: `not_a_member` or `limit`. */
  refusal?: RollcallError;
}

/** A row of a list of conversations. */
export interface ConversationState {
  typing: Typing;
  /** The presence of the people that the app named for it, as far as it is known. */
  presences: Map<string, Presence>;
}

/** `recording` is speaking a message, for example; `thinking` is for bots and agents. */
export type TypingKind = "typing" | "recording" | "uploading" | "thinking";

export interface Typist {
  user: string;
  /** As that of a member. */
  name?: string;
  /** What the user does. A kind that this version does not know counts as typing. */
  kind: TypingKind;
}

/** The members of a conversation and their presence. */
export interface Members {
  conversation: string;
  /**
   * The members, sorted by identifier, including the client's own user. In a very large conversation only some are
   * listed: as many as the worker lets one session watch.
   */
  people: readonly Member[];
  /** The number of members, listed or not; 0 if the conversation has no member list. */
  count: number;
  /** Why the worker shows nothing of this conversation: `not_a_member` or `limit`. */
  refusal?: RollcallError;
}

export interface Member {
  user: string;
  /** The app's name for the user, or else the name from the conversation's member list, or from the user's sign-in. */
  name?: string;
  /** Absent while unknown. */
  presence?: Presence;
}

/** Who has a conversation open. */
export interface Here {
  conversation: string;
  /**
   * The first of them, as many as the worker names (`here.names`), the longest here first, the client's own user included. If
   * there are more, without `data`.
   */
  users: readonly HereUser[];
  /** The number of users, named or not. */
  count: number;
  /** `users` without the client's own, and how many others there are, named or not. */
  others: readonly HereUser[];
  otherCount: number;
  /** Why the worker shows nothing of this conversation: `not_a_member` or `limit`. */
  refusal?: RollcallError;
}

export interface HereUser {
  user: string;
  /** As that of a member. */
  name?: string;
  /** When the user came, over all devices: milliseconds since 1970 on the server's clock. */
  since: number;
  /** Whether no device that is here was used lately. */
  isIdle: boolean;
  /** What the user's devices showed last. It comes from another user's app: check it. */
  data?: Record<string, unknown>;
}

/** That this device has a conversation open. Several entries of one conversation count once, with what was shown last. */
export class HereEntry {
  private constructor();
  readonly conversation: string;
  /**
   * Shows something else, or nothing. Others see the first four changes at once, and later ones at most twice a second. A closed
   * entry enters again.
   *
   * @throws {TypeError} if it is no object that JSON can say
   */
  show(data?: object): void;
  /** Exits, unless another entry of the conversation is open. */
  close(): void;
  [Symbol.dispose](): void;
}

/** The latest value of something, and then its changes. A slow reader of the iterator skips intermediate values. */
export class Updates<Value> implements AsyncIterable<Value> {
  private constructor();
  /** The value that is known now. Undefined if nothing observes it, or if no value has arrived yet. */
  get latest(): Value | undefined;
  /** Calls `listener` with the latest value, but not within this call, and then with every change. */
  subscribe(listener: (value: Value) => void, options?: Abortable): Ending;
  [Symbol.asyncIterator](): AsyncIterableIterator<Value>;
}

/** One input field of one conversation. While its view is shown, the conversation is joined. */
export class TypingInput {
  private constructor();
  readonly conversation: string;
  /**
   * Reports the field's whole text after its user edited it. The text is not kept. White space and invisible characters
   * alone do not count as typing.
   *
   * @throws {TypeError} if it is no string
   */
  edited(text: string): void;
  /**
   * Reports the field's whole text after the program changed it: a draft that is put back, or text that is pasted for the
   * user. That does not count as typing; but if nothing is left, the typing ends.
   */
  restored(text: string): void;
  /**
   * Reports that the user does something that is no edit of a text but counts as typing, such as to speak into the
   * microphone. It counts like an edit, so repeat it while it lasts, at least once per `inactivity`, or until `stopTyping`.
   *
   * @param kind what others are told that the user does (default: typing), until the next edit or call
   * @throws {TypeError} if it is no kind
   */
  keepTyping(kind?: TypingKind): void;
  /** Ends what `keepTyping` began, like an edit that leaves no text. */
  stopTyping(): void;
  /** Ends the typing. Call it right before the text is sent. */
  send(): void;
  /**
   * Like `send`, and waits until the worker has published the end, so that other users do not see typing after the
   * message. Resolves with false if the worker did not confirm it `within` this time (default: 2000), or if the client
   * is disconnected. The app should send its message in either case.
   */
  sendConfirmed(options?: { within?: number }): Promise<boolean>;
  /** Reports that the field's view is shown again. A new input counts as shown. */
  appeared(): void;
  /**
   * Reports that the field's view is no longer shown: the typing ends, and edits count for nothing until `appeared`. In the
   * background, too, nothing counts as typing.
   */
  disappeared(): void;
  [Symbol.dispose](): void;
}

// ---- Errors

/** What went wrong. The values are stable: programs may match on them. */
export type RollcallErrorCode =
  /** A URL is not that of a worker, or there is none. */
  | "invalid_url"
  /** This runtime has no WebSocket. */
  | "no_websocket"
  /** The name of a user, device or conversation is invalid. Thrown by the call to which it was passed. */
  | "invalid_name"
  /** The worker rejects the token (close code 4100). */
  | "bad_token"
  /**
   * The token has expired, and so had the one that the callback then returned (4101). While `waiting`, only the first.
   */
  | "token_expired"
  /** The worker could not read one of the client's messages, or the server is not a Rollcall worker (4102). */
  | "protocol_error"
  /** The client sent far more frames or messages than the worker allows (4103). */
  | "too_many_messages"
  /** A newer session of the same device has replaced this one (4104). */
  | "replaced"
  /** The user has more sessions than the worker allows (4105). */
  | "too_many_sessions"
  /** An operator ended the session (4106). */
  | "sent_away"
  /** The token is another user's than the last session's (4107). Call `disconnect` before another user signs in. */
  | "another_user"
  /** The worker ended the session for another reason that a reconnect does not fix. */
  | "refused"
  /** The user is not a member of the conversation. */
  | "not_a_member"
  /**
   * The app observes somebody whom it may not see, and who so looks as if never seen: name a conversation of both (`in`), or let the
   * token's claim `watch` or `access.watch` name them. A problem only, reported once.
   */
  | "not_shared"
  /** The client observes more users or conversations than the worker allows one session. */
  | "limit"
  /** The worker rejected one message. */
  | "bad_request"
  /** The token callback threw an error, or returned no token. */
  | "token_unavailable"
  /** No worker answered. */
  | "unreachable"
  /** The connection ended without a close frame, or the worker sent nothing for too long. */
  | "connection_lost"
  /** The worker closed the connection, and the client reconnects when and where the worker asked. */
  | "asked";

/** An error that needs a fix, or, in the state `waiting`, the reason for the next attempt. */
export class RollcallError extends Error {
  constructor(code: RollcallErrorCode, message: string, details?: { closeCode?: number; cause?: unknown });
  readonly code: RollcallErrorCode;
  /** The WebSocket close code, if the worker sent one. */
  readonly closeCode: number | undefined;
  /** Whether a retry may help. If so, the client already retries. */
  get retry(): boolean;
}

/** The typing settings contradict each other. `problems` lists every contradiction. */
export class InvalidTypingSettings extends RangeError {
  constructor(problems: string[]);
  readonly problems: readonly string[];
}

// ---- Texts

export interface InLanguage {
  /**
   * A BCP 47 tag, or several in order of preference. By default the page's (`<html lang>`), or `navigator.languages` if the page
   * says none; English if none is available.
   */
  language?: string | readonly string[];
}

export interface TypingTextOptions extends InLanguage {
  /**
   * The maximum number of names (default: 3). If more users are typing, at most two are named and the others counted.
   */
  maximumNames?: number;
  /** From this number of users, the text is `Several people are typing`. If omitted, never. */
  severalFrom?: number;
  /** By when the users began to type (default), or by name, sorted by the rules of the language. */
  order?: "beginning" | "name";
  /** The maximum length of a name in grapheme clusters (default: 40). Longer names are shortened. */
  longestName?: number;
  /** Returns the app's name for a user. If it returns null, the typist's `name` is used. */
  name?: (user: string) => string | null | undefined;
}

export type HereTextOptions = Pick<TypingTextOptions, "language" | "maximumNames" | "longestName" | "name">;

export interface LastSeenOptions extends InLanguage {
  /** `discreet`, the default: `Last seen today`. `exact`: `Last seen 3 hours ago`. */
  style?: "discreet" | "exact";
}

/** `Alice and Bob are typing…`, or if all of them do another thing, `Alice is recording…`. Empty if no user is typing. */
export function typingText(
  typing: Typing, options?: TypingTextOptions & { dots?: "ellipsis" | "three" | "none" }): string;
/** The same text for a screen reader: without dots and invisible characters. */
export function typingLabel(typing: Typing, options?: TypingTextOptions): string;

/** `Ada and Bob are here`, `Ada, Bob, and 10 others are here`, `12 people are here`. Empty if nobody else is. */
export function hereText(here: Here, options?: HereTextOptions): string;
/** The same text for a screen reader: without invisible characters. */
export function hereLabel(here: Here, options?: HereTextOptions): string;

/**
 * Decides when a screen reader should announce who is typing: when the label changes, but what it announced not again within 5 s.
 */
export class TypingAnnouncer {
  constructor(options?: TypingTextOptions);
  /**
   * The label, or null if there is nothing new to announce. Empty if no user is typing any more.
   *
   * @param options instead of the announcer's
   */
  announcement(typing: Typing, options?: TypingTextOptions): string | null;
}

/** Says when a user was last seen, or `Do not disturb until 15:00`. Empty for a user who is unknown or was never seen. Pass the client's `now`. */
export function lastSeenText(presence: Presence | undefined, now: number, options?: LastSeenOptions): string;
/**
 * How a user's presence is shown, for a page without a framework: the dot, and "last seen" in words. Emitted again whenever one of
 * them changes, also because time has passed, or because the connection has been down for `staleAfter`.
 */
export function presenceView(client: RollcallClient, user: string, options?: Abortable & In & LastSeenOptions): Updates<ShownPresence>;
/** The same for several users, as a map. A user whose view has not changed keeps the same object. */
export function presenceView(
  client: RollcallClient, users: Iterable<string>, options?: Abortable & In & LastSeenOptions): Updates<Map<string, ShownPresence>>;
/** How many milliseconds that text stays correct if the presence does not change; Infinity if always. */
export function lastSeenValidity(presence: Presence | undefined, now: number, options?: LastSeenOptions): number;
/**
 * What a connection is doing, for its user: `Connecting…`, `Not connected`, or `Please sign in again` (`bad_token`,
 * `token_expired`). Empty while connected, and after `disconnect` or `close`.
 */
export function connectionText(state: ConnectionState, options?: InLanguage): string;
/** `Busy`, `Do not disturb until 15:00`, or with the day if that is not today; else empty. Pass the client's `now`. */
export function availabilityText(
  of: { availability?: Person["availability"]; until?: number }, now: number, options?: InLanguage): string;
/** `Online`, `Away`, `Offline`; empty for an unknown user. */
export function presenceText(presence: Presence | undefined, options?: InLanguage): string;
/**
 * The colour role of a user's dot; `none` for a user who is unknown or was never seen. The app's design chooses the actual
 * colours.
 */
export function presenceDot(presence: Presence | undefined): "green" | "amber" | "grey" | "none";
/**
 * How many users of a group are online: `3 of 5 online`. Users whose presence is unknown count only in the total.
 * If only some of the group are `listed`, more may be online: `312+ of 5000 online`.
 */
export function groupCount(
  presences: Iterable<Presence | undefined>, total: number, options?: InLanguage & { listed?: number },
): { online: number; total: number; text: string };
/**
 * Animated dots (`count`, default: 3), after `elapsed` milliseconds. Each dot's turn takes `interval` (default: 400 ms).
 * `phase`: whose turn it is, or null if the dots do not move. `opacities`: 0 to 1 for each dot.
 */
export function typingDots(
  elapsed: number, options?: { interval?: number; count?: number; reducesMotion?: boolean },
): { phase: number | null; opacities: number[] };

// ---- Languages

/**
 * Adds or replaces a language.
 *
 * @throws {RangeError} that lists all missing words, and all placeholders that are missing or that nothing fills
 */
export function addLanguage(words: LanguageWords): void;
/**
 * Changes some words of a language that is available: `changeWords("ja", { typing: { person: "{name}" } })`.
 *
 * @throws {RangeError} as `addLanguage`
 */
export function changeWords(language: string, words: ChangedWords<LanguageWords>): void;
/** Some of the words. */
export type ChangedWords<Words> = { [Key in keyof Words]?: Words[Key] extends object ? ChangedWords<Words[Key]> : Words[Key] };
/** The available languages, in the order in which to offer them. */
export function languages(): { id: string; name: string; direction: "ltr" | "rtl" }[];

/** A phrase that depends on a number, by CLDR's plural category. `other` replaces missing categories. */
export type Forms = { other: string } & Partial<Record<"zero" | "one" | "two" | "few" | "many", string>>;

/**
 * The words of a language. `{name}`, `{list}`, `{count}`, `{online}`, `{total}`, `{status}`, `{time}`, `{verb}` and `{verbs}` are
 * placeholders.
 */
export interface LanguageWords {
  /** BCP 47: `de`, `zh-Hant`. */
  id: string;
  /** The name of the language in that language. */
  name: string;
  direction: "ltr" | "rtl";
  /** The text between names: `pair` between two; for more names `middle`, and `last` before the final one. */
  list: {
    pair: string;
    middle: string;
    last: string;
    /**
     * `use` replaces `pair` and `last` before a name that begins with one of `starts` and none of `except` (in lower case,
     * composed): Spanish *y* becomes *e* before the sound of *i*. Isolates before the first letter are ignored.
     */
    before?: { starts: string[]; except: string[]; use: string };
  };
  typing: {
    /** What one person does: `is typing`, `is here`. The phrases below may contain it as `{verb}`. */
    verb: Record<TypingKind | "here", string>;
    /** What several people do: `are typing`. As `{verbs}`. */
    verbs: Record<TypingKind | "here", string>;
    /** One person: `{name}`. */
    one: string;
    /** Two or more, named or counted: `{list}`. The form depends on how many there are in all. */
    list: Forms;
    /** One person without a name. */
    someone: string;
    /** Two or more, none with a name: `{count}`. */
    people: Forms;
    /** Many, without a count. */
    several: string;
    /** A name inside a sentence or a list: `{name}`, in Japanese `{name}さん`. */
    person: string;
    /** The last item of a list: the people who are not named, `{count}`. */
    others: Forms;
    /** The last item of a list: the only person without a name. */
    someoneElse: string;
    /** Text before the dots, if there are any: a no-break space in German, otherwise empty. */
    beforeDots: string;
  };
  /** Vague texts, from `now` to `longAgo`, with `{count}` minutes; and exact ones, with `{count}` and "ago". */
  lastSeen: {
    now: string;
    justNow: string;
    minutes: Forms;
    recently: string;
    today: string;
    yesterday: string;
    week: string;
    month: string;
    longAgo: string;
    minutesAgo: Forms;
    hoursAgo: Forms;
    daysAgo: Forms;
  };
  /** What the dot's colour means, for screen readers; `busy` or `dnd`, as `{status}`, until `{time}`; and `{online}` of `{total}`, whose form depends on `online`. */
  presence: { online: string; away: string; offline: string; busy: string; dnd: string; until: string; group: Forms };
  connection: { connecting: string; failed: string; signedOut: string };
}
