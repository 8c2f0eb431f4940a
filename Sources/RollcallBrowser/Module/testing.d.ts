// Type declarations of `testing.js`: a worker for tests of apps and for previews, with real clients.

import type { ClientOptions, RollcallClient, TypingKind } from "./rollcall.js";

/**
 * A worker in the same program, without network and Redis. It follows the protocol: what one client does, the others see.
 *
 * What follows from a call happens at once, but not within the call: `await worker.settled()`. What takes time (debounce,
 * expiry, pauses, lists at most once in 16 ms) takes it, so let it pass, or use fake timers that replace `setTimeout`, `Date`
 * and `performance`: `vi.useFakeTimers()`, `jest.useFakeTimers()`.
 */
export class FakeWorker {
  /** Returns a client of this worker, as the app would make one. It is not connected yet. Its user's name is the token. */
  client(user: string, options?: Partial<ClientOptions>): RollcallClient;
  /** Another user, whom the test controls. `name` is shown where that user types. */
  person(user: string, options?: { name?: string }): FakePerson;

  /** Ends every connection without a close frame, as in a tunnel. Clients can connect again at once. */
  drops(): void;
  /** Ends every connection with a close code, such as 4100. */
  closes(code: number, reason?: string): void;
  /** Every connection is lost, and none can be opened before `comesBack`. */
  goesAway(): void;
  comesBack(): void;
  /** Answers as a worker whose Redis is away: what needs it is refused, until `becomesAvailable`. */
  becomesUnavailable(): void;
  becomesAvailable(): void;
  /** Sets the members of a conversation, with their names. From then on, only they may join it. */
  setMembers(conversation: string, members: Record<string, string>): void;

  /** All messages of clients, in the order of arrival, each with its `user`. */
  get messages(): ({ user: string; type: string } & Record<string, unknown>)[];
  /** Who is typing in a conversation. */
  typists(conversation: string): string[];
  status(user: string): "online" | "away" | "offline";
  /** Resolves once everything has happened that takes no time. */
  settled(): Promise<void>;
}

/** Another user of a `FakeWorker`. */
export interface FakePerson {
  readonly user: string;
  /** Types, until `stops`. */
  types(conversation: string, kind?: TypingKind): void;
  stops(conversation: string): void;
  /** Has a conversation open, and shows this there, until `exits`. */
  enters(conversation: string, data?: object): void;
  exits(conversation: string): void;
  /** Is online. */
  comes(): void;
  /** Is away. */
  idles(): void;
  /** Goes offline, last seen now. */
  goes(): void;
  /** Is offline, last seen so many milliseconds ago. */
  wasSeen(ago: number): void;
}
