// Type declarations of `react.js`. All hooks need a provider around the component. Texts are in the page's language. While a name
// is `undefined`, `null` or `""`, a hook shows nothing; a name that is none is a `problem` of the client, and shows nothing.

import type { ReactNode } from "react";
import type {
  ClientOptions, ConnectionState, Here, HereTextOptions, HereUser, InLanguage, LastSeenOptions, Person, PersonChange, RollcallClient, RollcallError,
  ShownPresence, Typing, TypingInput, TypingTextOptions,
} from "./rollcall.js";
export type { ShownPresence } from "./rollcall.js";

/** What stands for a name as long as the app does not know it. */
export type NotYet = null | undefined;

/**
 * Makes a client from the options, connects it, lets it follow the page, and closes it when it is unmounted. A component that is
 * mounted again within the same task, as in strict mode, keeps its client. `token` and `names` are always those of the newest
 * render; with another `url` it makes a new client. Other options that change later are ignored, with a warning in development.
 * Give the provider the user's name as `key`, so that another user gets a client of their own. `language` is that of all hooks.
 *
 * Or takes a `client` that the app made, such as that of a test, and does nothing with it.
 */
export function RollcallProvider(
  props: { options: ClientOptions; client?: undefined; children?: ReactNode }
    | { client: RollcallClient; options?: undefined; children?: ReactNode },
): ReactNode;
/** The client; null while the page is rendered on a server, and before the first effect. */
export function useRollcall(): RollcallClient | null;

/** Who is typing, and the sentence, without dots for a screen reader, and what one should announce. */
export function useTyping(
  conversation: string | NotYet, options?: TypingTextOptions & { dots?: "ellipsis" | "three" | "none" },
): { typing: Typing; text: string; label: string; announcement: string; refusal?: RollcallError };

/** The user's own input field, for as long as the component is shown. The object is the same each time. */
export function useTypingInput(conversation: string | NotYet): Pick<
  TypingInput, "edited" | "restored" | "keepTyping" | "stopTyping" | "send" | "sendConfirmed">;

/** `in` as in `RollcallClient.presence`; nothing is shown before there is one. */
export function usePresence(user: string | NotYet, options?: LastSeenOptions & InConversation): ShownPresence;

/**
 * Many users, for a list of which only some rows are on the screen: give it those. Returns how to show one of them: the same
 * object until that changes.
 */
export function usePeople(
  users: Iterable<string | NotYet> | NotYet, options?: LastSeenOptions & InConversation): (user: string) => ShownPresence;

export interface InConversation { in?: string | NotYet }

/** The members of a conversation. `text`: `3 of 5 online`, or empty. */
export function useMembers(conversation: string | NotYet, options?: LastSeenOptions): {
  people: (ShownPresence & { user: string; name?: string })[]; count: number; text: string; refusal?: RollcallError;
};

/**
 * Who else has a conversation open, and the sentence (`Ada and Bob are here`). While the component is shown, this device has it
 * open, too, and shows `data` to the others; with `enter: false` it only looks.
 */
export function useHere(conversation: string | NotYet, options?: HereTextOptions & { enter?: boolean; data?: object }): {
  here: Here; others: readonly HereUser[]; otherCount: number; text: string; label: string; refusal?: RollcallError;
};

/**
 * For a list: give it the visible conversations and whose presence each shows. Returns how to show one of them: the same object
 * until that changes.
 */
export function useConversations(
  rows: Map<string, readonly (string | NotYet)[]> | Record<string, readonly (string | NotYet)[]> | NotYet, options?: LastSeenOptions & TypingTextOptions,
): (conversation: string) => {
  text: string; label: string; presence(user: string): ShownPresence; /** Why nothing is shown of it. */ refusal?: RollcallError;
};

/**
 * What the client's user has decided that others see, for a settings screen or a menu. `set` is `setPerson`; `text`:
 * `Do not disturb until 15:00`, or empty.
 */
export function usePerson(options?: InLanguage): { person: Person; set(change: PersonChange): void; text: string };

/**
 * `staleSince`: since when what is shown of others may be old; null while connected. `text`: what to tell the user, empty while
 * connected and for the first seconds without a connection.
 */
export function useConnection(options?: InLanguage): {
  state: ConnectionState; isConnected: boolean; staleSince: number | null; text: string;
};
