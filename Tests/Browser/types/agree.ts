// Compiles only while the declarations and the module agree: each declared member exists with a compatible type, and no
// other member exists.

import type * as built from "./built";
import type * as declared from "./rollcall";

type Shape<Type> = { [Key in keyof Type]: Type[Key] };
/** Except `Symbol.dispose`, which older compilers do not see in the module. */
type Differences<One, Other> = Exclude<Exclude<keyof One, keyof Other> | Exclude<keyof Other, keyof One>, symbol>;
type None<Type extends never> = Type;

type Exports = None<Differences<typeof built, typeof declared>>;
type Client = None<Differences<built.RollcallClient, declared.RollcallClient>>;
type Input = None<Differences<built.TypingInput, declared.TypingInput>>;
type Entry = None<Differences<built.HereEntry, declared.HereEntry>>;
type Updates = None<Differences<built.Updates<string>, declared.Updates<string>>>;
type Announcer = None<Differences<built.TypingAnnouncer, declared.TypingAnnouncer>>;
type Failure = None<Differences<built.RollcallError, declared.RollcallError>>;
type Settings = None<Differences<built.InvalidTypingSettings, declared.InvalidTypingSettings>>;

declare const client: Shape<built.RollcallClient>;
declare const input: Shape<built.TypingInput>;
declare const entry: Shape<built.HereEntry>;
declare const failure: Shape<built.RollcallError>;
declare const announcer: Shape<built.TypingAnnouncer>;
type Functions = Pick<
  typeof built,
  "addLanguage" | "changeWords" | "connectionText" | "followAppState" | "groupCount" | "hereLabel" | "hereText" | "languages" | "lastSeenText" | "lastSeenValidity" | "presenceDot" | "presenceText"
  | "presenceView" | "typingDots" | "typingLabel" | "typingText">;
declare const functions: Functions;

export const agrees: [
  Omit<Shape<declared.RollcallClient>, "addEventListener" | "enter" | "typingInput" | typeof Symbol.dispose>,
  Omit<Shape<declared.TypingInput>, typeof Symbol.dispose>,
  Omit<Shape<declared.HereEntry>, typeof Symbol.dispose>,
  Shape<declared.RollcallError>,
  Shape<declared.TypingAnnouncer>,
  Pick<typeof declared, keyof Functions>,
] = [client, input, entry, failure, announcer, functions];
export type { Announcer, Client, Entry, Exports, Failure, Input, Settings, Updates };
