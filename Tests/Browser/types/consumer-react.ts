// An application with React: it is compiled, not run.

import { createElement } from "react";
import {
  RollcallProvider, useConnection, useConversations, useHere, useMembers, usePerson, usePresence, useRollcall, useTyping,
  useTypingInput,
} from "rollcall/react";

function Chat({ id, friend }: { id: string; friend: string }) {
  const { text, label, announcement, typing } = useTyping(id, { maximumNames: 2, dots: "none" });
  const { edited, restored, send, sendConfirmed } = useTypingInput(id);
  const { text: lastSeen, dot, label: meaning, presence } = usePresence(friend, { style: "exact" });
  const { people, count, text: counted } = useMembers(id);
  const page = useHere(id, { enter: false, data: { section: 4 }, maximumNames: 2 });
  const row = useConversations({ [id]: [friend] })(id);
  const { isConnected, staleSince } = useConnection();
  const me = usePerson();
  me.set({ availability: me.person.availability === "dnd" ? null : "dnd", until: new Date(), lastSeen: "nobody" });
  restored("draft");
  edited(text);
  send();
  void sendConfirmed({ within: 500 }).then((isConfirmed: boolean) => isConfirmed);
  const parts: string[] = [
    me.text,     page.text, page.label, `${page.otherCount} ${page.others[0]?.since} ${page.here.users.length}`, label, announcement, lastSeen, dot, meaning, counted, row.text, row.presence(friend).text, `${typing.count} ${count}`,
    `${isConnected} ${staleSince} ${presence?.status} ${useRollcall()?.now}`, ...people.map(({ user, name, dot }) => name ?? user + dot),
  ];
  return createElement("p", null, ...parts);
}

const options = { url: "/v1/connect", token: async () => "token" };
export const app = createElement(RollcallProvider, { options }, createElement(Chat, { id: "c42", friend: "bob" }));
