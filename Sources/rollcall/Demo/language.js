// How the page speaks: the language of the screens, and what screen readers hear.

import { TypingAnnouncer, languages, presenceText } from "./rollcall.js";
import { nameOf } from "./chat.js";

/** Creates an element with text and a class. */
export function make(tag, text = "", className = "") {
  return Object.assign(document.createElement(tag), { textContent: text, className });
}

/** Sets a text only if it differs: an unchanged element neither flickers nor is read aloud again. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The language that the visitor chose. The page also works in a browser that stores nothing. */
function remembered() {
  try {
    return localStorage.getItem("rollcall-demo-language");
  } catch {
    return null;
  }
}

/** The words on a chat's screen that Rollcall does not provide: the message field, its button, and the list. */
const WORDS = {
  en: ["Message", "Send", "Chats"], de: ["Nachricht", "Senden", "Chats"], fr: ["Message", "Envoyer", "Discussions"],
  es: ["Mensaje", "Enviar", "Chats"], pt: ["Mensagem", "Enviar", "Conversas"], it: ["Messaggio", "Invia", "Chat"],
  nl: ["Bericht", "Versturen", "Chats"], pl: ["Wiadomość", "Wyślij", "Czaty"], ru: ["Сообщение", "Отправить", "Чаты"],
  ar: ["رسالة", "إرسال", "الدردشات"], he: ["הודעה", "שליחה", "צ׳אטים"], hi: ["संदेश", "भेजें", "चैट"],
  ja: ["メッセージ", "送信", "トーク"], ko: ["메시지", "보내기", "채팅"], "zh-Hans": ["消息", "发送", "聊天"],
  "zh-Hant": ["訊息", "傳送", "聊天"], tr: ["Mesaj", "Gönder", "Sohbetler"], uk: ["Повідомлення", "Надіслати", "Чати"],
};

/** The language on the devices' screens: one for all, so that the screens can be compared. Emits `changed`. */
class Language extends EventTarget {
  #all = new Map(languages().map((each) => [each.id, each]));
  id = this.#all.has(remembered()) ? remembered() : this.#preferred();

  get direction() { return this.#all.get(this.id).direction; }

  get words() { return WORDS[this.id] ?? WORDS.en; }

  /** The time of day in the format of this language. */
  time(at) { return new Intl.DateTimeFormat(this.id, { hour: "numeric", minute: "2-digit" }).format(at); }

  /** The word for today. */
  get today() { return new Intl.RelativeTimeFormat(this.id, { numeric: "auto" }).format(0, "day"); }

  /** Fills the list of languages, each with its own name for itself. */
  fill(select) {
    for (const { id, name } of this.#all.values()) {
      select.append(Object.assign(make("option", name), { value: id, lang: id }));
    }
    select.value = this.id;
    select.addEventListener("change", () => {
      this.id = select.value;
      try {
        localStorage.setItem("rollcall-demo-language", this.id);
      } catch { /* Then not. */ }
      this.dispatchEvent(new Event("changed"));
    });
  }

  /** The first of the reader's languages that is available. */
  #preferred() {
    const ids = navigator.languages.map((tag) => {
      const { language, script } = new Intl.Locale(tag).maximize();
      return language === "zh" ? `zh-${script}` : language;
    });
    return ids.find((id) => this.#all.has(id)) ?? "en";
  }
}

export const language = new Language();

/**
 * Announces for one device at a time, in one place for the whole page: several devices show the same, so only the device
 * in use announces. Only changes are announced: the set of typing users, a new message, a user who comes or goes.
 */
export class Speaker {
  #region;
  #device = null;
  #announcer;
  #presence;
  #newest;
  /** The last announcement about typing. */
  #typing = null;

  constructor(region) {
    this.#region = region;
    language.addEventListener("changed", () => this.#follow(this.#device));
  }

  /** Adds a device. It announces once its screen or its controls have the focus. */
  add(device, element) {
    const hears = (what, then) => device.addEventListener(what, () => device === this.#device && then(device));
    element.addEventListener("focusin", () => this.#follow(device));
    hears("conversation", () => this.#follow(device));
    hears("typing", () => this.#typingChanged(device));
    hears("presence", () => this.#presenceChanged(device));
    hears("messages", () => this.#messagesChanged(device));
    if (!this.#device) this.#follow(device);
  }

  /** Follows a device, and takes what it shows as known. */
  #follow(device) {
    this.#device = device;
    Object.assign(this.#region, { lang: language.id, dir: language.direction });
    this.#announcer = new TypingAnnouncer({ language: language.id });
    this.#announcer.announcement(device.typing);
    this.#presence = device.otherPresence;
    this.#newest = device.messagesIn(device.conversation).at(-1)?.id;
  }

  /** Announces typing, except in a group, where some user is nearly always typing. */
  #typingChanged({ typing, conversation }) {
    const announcement = this.#announcer.announcement(typing);
    if (announcement === null || conversation?.title) return;
    if (announcement) this.#typing = this.#say(announcement);
    // If typing ends, only its own announcement is removed, and never a message.
    else this.#typing?.remove();
  }

  /** Announces presence, except in a group. */
  #presenceChanged({ otherPresence: now, conversation }) {
    const before = this.#presence;
    this.#presence = now;
    if (!before || before.status === now?.status) return;
    this.#say(`${nameOf(this.#device.otherIn(conversation))}: ${presenceText(now, { language: language.id })}`);
  }

  #messagesChanged(device) {
    const newest = device.messagesIn(device.conversation).at(-1);
    if (!newest || newest.id === this.#newest) return;
    this.#newest = newest.id;
    if (newest.from !== device.user) this.#say(`${nameOf(newest.from)}: ${newest.text}`);
  }

  /** Announces with a new node, so that equal words are read again. */
  #say(words) {
    const said = make("span", words);
    this.#region.replaceChildren(said);
    return said;
  }
}
