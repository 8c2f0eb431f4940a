// The words on a chat's screen that Rollcall does not provide, in all languages that it supports.

const WORDS = {
  en: ["Message", "Send"],
  de: ["Nachricht", "Senden"],
  fr: ["Message", "Envoyer"],
  es: ["Mensaje", "Enviar"],
  pt: ["Mensagem", "Enviar"],
  it: ["Messaggio", "Invia"],
  nl: ["Bericht", "Versturen"],
  pl: ["Wiadomość", "Wyślij"],
  ru: ["Сообщение", "Отправить"],
  ar: ["رسالة", "إرسال"],
  he: ["הודעה", "שליחה"],
  hi: ["संदेश", "भेजें"],
  ja: ["メッセージ", "送信"],
  ko: ["메시지", "보내기"],
  "zh-Hans": ["消息", "发送"],
  "zh-Hant": ["訊息", "傳送"],
  tr: ["Mesaj", "Gönder"],
  uk: ["Повідомлення", "Надіслати"],
};

/** Returns the words of the message field in a language. */
export function composerWords(language) {
  const [message, send] = WORDS[language] ?? WORDS.en;
  return { message, send };
}
