export default [
  {
    "id": "en",
    "name": "English",
    "direction": "ltr",
    "list": {"pair": " and ", "middle": ", ", "last": ", and "},
    "typing": {
      "verb": {"typing": "is typing", "recording": "is recording", "uploading": "is uploading", "thinking": "is thinking", "here": "is here"},
      "verbs": {"typing": "are typing", "recording": "are recording", "uploading": "are uploading", "thinking": "are thinking", "here": "are here"},
      "one": "{name} {verb}",
      "list": {"other": "{list} {verbs}"},
      "someone": "Someone {verb}",
      "people": {"other": "{count} people {verbs}"},
      "several": "Several people {verbs}",
      "person": "{name}",
      "others": {"one": "{count} other", "other": "{count} others"},
      "someoneElse": "someone else",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "Active now",
      "justNow": "Last seen just now",
      "minutes": {"other": "{count}m ago"},
      "recently": "Active recently",
      "today": "Last seen today",
      "yesterday": "Last seen yesterday",
      "week": "Last seen within a week",
      "month": "Last seen within a month",
      "longAgo": "Last seen a long time ago",
      "minutesAgo": {"one": "Last seen {count} minute ago", "other": "Last seen {count} minutes ago"},
      "hoursAgo": {"one": "Last seen {count} hour ago", "other": "Last seen {count} hours ago"},
      "daysAgo": {"one": "Last seen {count} day ago", "other": "Last seen {count} days ago"}
    },
    "presence": {
      "online": "Online",
      "away": "Away",
      "offline": "Offline",
      "group": {"other": "{online} of {total} online"}
    },
    "connection": {"connecting": "Connecting…", "failed": "Not connected", "signedOut": "Please sign in again"}
  },
  {
    "id": "de",
    "name": "Deutsch",
    "direction": "ltr",
    "list": {"pair": " und ", "middle": ", ", "last": " und "},
    "typing": {
      "verb": {"typing": "schreibt", "recording": "nimmt auf", "uploading": "lädt hoch", "thinking": "denkt nach", "here": "ist hier"},
      "verbs": {"typing": "schreiben", "recording": "nehmen auf", "uploading": "laden hoch", "thinking": "denken nach", "here": "sind hier"},
      "one": "{name} {verb}",
      "list": {"other": "{list} {verbs}"},
      "someone": "Jemand {verb}",
      "people": {"other": "{count} Personen {verbs}"},
      "several": "Mehrere Personen {verbs}",
      "person": "{name}",
      "others": {"one": "{count} weitere Person", "other": "{count} weitere Personen"},
      "someoneElse": "noch jemand",
      "beforeDots": "\u00a0"
    },
    "lastSeen": {
      "now": "Jetzt aktiv",
      "justNow": "Gerade eben gesehen",
      "minutes": {"other": "Vor {count} Min."},
      "recently": "Vor Kurzem aktiv",
      "today": "Zuletzt heute gesehen",
      "yesterday": "Zuletzt gestern gesehen",
      "week": "Zuletzt innerhalb einer Woche gesehen",
      "month": "Zuletzt innerhalb eines Monats gesehen",
      "longAgo": "Zuletzt vor langer Zeit gesehen",
      "minutesAgo": {"one": "Zuletzt vor {count} Minute gesehen", "other": "Zuletzt vor {count} Minuten gesehen"},
      "hoursAgo": {"one": "Zuletzt vor {count} Stunde gesehen", "other": "Zuletzt vor {count} Stunden gesehen"},
      "daysAgo": {"one": "Zuletzt vor {count} Tag gesehen", "other": "Zuletzt vor {count} Tagen gesehen"}
    },
    "presence": {
      "online": "Online",
      "away": "Abwesend",
      "offline": "Offline",
      "group": {"other": "{online} von {total} online"}
    },
    "connection": {"connecting": "Verbindung wird hergestellt\u00a0…", "failed": "Keine Verbindung", "signedOut": "Bitte erneut anmelden"}
  },
  {
    "id": "fr",
    "name": "Français",
    "direction": "ltr",
    "list": {"pair": " et ", "middle": ", ", "last": " et "},
    "typing": {
      "verb": {"typing": "est en train d’écrire", "recording": "est en train d’enregistrer", "uploading": "est en train d’envoyer un fichier", "thinking": "est en train de réfléchir", "here": "est ici"},
      "verbs": {"typing": "sont en train d’écrire", "recording": "sont en train d’enregistrer", "uploading": "sont en train d’envoyer un fichier", "thinking": "sont en train de réfléchir", "here": "sont ici"},
      "one": "{name} {verb}",
      "list": {"other": "{list} {verbs}"},
      "someone": "Quelqu’un {verb}",
      "people": {"other": "{count} personnes {verbs}"},
      "several": "Plusieurs personnes {verbs}",
      "person": "{name}",
      "others": {"one": "{count} autre personne", "other": "{count} autres personnes"},
      "someoneElse": "quelqu’un d’autre",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "En ligne",
      "justNow": "Dernière connexion à l’instant",
      "minutes": {"other": "Il y a {count} min"},
      "recently": "En ligne il y a peu",
      "today": "Dernière connexion aujourd’hui",
      "yesterday": "Dernière connexion hier",
      "week": "Dernière connexion il y a moins d’une semaine",
      "month": "Dernière connexion il y a moins d’un mois",
      "longAgo": "Dernière connexion il y a longtemps",
      "minutesAgo": {"one": "Dernière connexion il y a {count} minute", "other": "Dernière connexion il y a {count} minutes"},
      "hoursAgo": {"one": "Dernière connexion il y a {count} heure", "other": "Dernière connexion il y a {count} heures"},
      "daysAgo": {"one": "Dernière connexion il y a {count} jour", "other": "Dernière connexion il y a {count} jours"}
    },
    "presence": {
      "online": "En ligne",
      "away": "Absent(e)",
      "offline": "Hors ligne",
      "group": {"other": "{online} sur {total} en ligne"}
    },
    "connection": {"connecting": "Connexion…", "failed": "Pas de connexion", "signedOut": "Veuillez vous identifier à nouveau"}
  },
  {
    "id": "es",
    "name": "Español",
    "direction": "ltr",
    "list": {"pair": " y ", "middle": ", ", "last": " y ", "before": {"starts": ["i", "í", "hi", "hí"], "except": ["hia", "hiá", "hie", "hié"], "use": " e "}},
    "typing": {
      "verb": {"typing": "está escribiendo", "recording": "está grabando", "uploading": "está subiendo un archivo", "thinking": "está pensando", "here": "está aquí"},
      "verbs": {"typing": "están escribiendo", "recording": "están grabando", "uploading": "están subiendo un archivo", "thinking": "están pensando", "here": "están aquí"},
      "one": "{name} {verb}",
      "list": {"other": "{list} {verbs}"},
      "someone": "Alguien {verb}",
      "people": {"other": "{count} personas {verbs}"},
      "several": "Varias personas {verbs}",
      "person": "{name}",
      "others": {"one": "{count} persona más", "other": "{count} personas más"},
      "someoneElse": "alguien más",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "En línea",
      "justNow": "Última conexión ahora mismo",
      "minutes": {"other": "Hace {count} min"},
      "recently": "En línea hace poco",
      "today": "Última conexión hoy",
      "yesterday": "Última conexión ayer",
      "week": "Última conexión hace menos de una semana",
      "month": "Última conexión hace menos de un mes",
      "longAgo": "Última conexión hace mucho tiempo",
      "minutesAgo": {"one": "Última conexión hace {count} minuto", "other": "Última conexión hace {count} minutos"},
      "hoursAgo": {"one": "Última conexión hace {count} hora", "other": "Última conexión hace {count} horas"},
      "daysAgo": {"one": "Última conexión hace {count} día", "other": "Última conexión hace {count} días"}
    },
    "presence": {
      "online": "En línea",
      "away": "Ausente",
      "offline": "Sin conexión",
      "group": {"other": "{online} de {total} en línea"}
    },
    "connection": {"connecting": "Conectando…", "failed": "Sin conexión", "signedOut": "Vuelve a iniciar sesión"}
  },
  {
    "id": "pt",
    "name": "Português",
    "direction": "ltr",
    "list": {"pair": " e ", "middle": ", ", "last": " e "},
    "typing": {
      "verb": {"typing": "está digitando", "recording": "está gravando", "uploading": "está enviando um arquivo", "thinking": "está pensando", "here": "está aqui"},
      "verbs": {"typing": "estão digitando", "recording": "estão gravando", "uploading": "estão enviando um arquivo", "thinking": "estão pensando", "here": "estão aqui"},
      "one": "{name} {verb}",
      "list": {"other": "{list} {verbs}"},
      "someone": "Alguém {verb}",
      "people": {"other": "{count} pessoas {verbs}"},
      "several": "Várias pessoas {verbs}",
      "person": "{name}",
      "others": {"one": "mais {count} pessoa", "other": "mais {count} pessoas"},
      "someoneElse": "mais alguém",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "Online agora",
      "justNow": "Último acesso agora mesmo",
      "minutes": {"other": "Há {count} min"},
      "recently": "Online há pouco",
      "today": "Último acesso hoje",
      "yesterday": "Último acesso ontem",
      "week": "Último acesso há menos de uma semana",
      "month": "Último acesso há menos de um mês",
      "longAgo": "Último acesso há muito tempo",
      "minutesAgo": {"one": "Último acesso há {count} minuto", "other": "Último acesso há {count} minutos"},
      "hoursAgo": {"one": "Último acesso há {count} hora", "other": "Último acesso há {count} horas"},
      "daysAgo": {"one": "Último acesso há {count} dia", "other": "Último acesso há {count} dias"}
    },
    "presence": {
      "online": "Online",
      "away": "Ausente",
      "offline": "Offline",
      "group": {"other": "{online} de {total} online"}
    },
    "connection": {"connecting": "Conectando…", "failed": "Sem conexão", "signedOut": "Entre novamente na sua conta"}
  },
  {
    "id": "it",
    "name": "Italiano",
    "direction": "ltr",
    "list": {"pair": " e ", "middle": ", ", "last": " e ", "before": {"starts": ["e", "é", "è"], "except": [], "use": " ed "}},
    "typing": {
      "verb": {"typing": "sta scrivendo", "recording": "sta registrando", "uploading": "sta caricando un file", "thinking": "sta pensando", "here": "è qui"},
      "verbs": {"typing": "stanno scrivendo", "recording": "stanno registrando", "uploading": "stanno caricando un file", "thinking": "stanno pensando", "here": "sono qui"},
      "one": "{name} {verb}",
      "list": {"other": "{list} {verbs}"},
      "someone": "Qualcuno {verb}",
      "people": {"other": "{count} persone {verbs}"},
      "several": "Diverse persone {verbs}",
      "person": "{name}",
      "others": {"one": "un’altra persona", "other": "altre {count} persone"},
      "someoneElse": "qualcun altro",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "Online ora",
      "justNow": "Ultimo accesso poco fa",
      "minutes": {"other": "{count} min fa"},
      "recently": "Online poco fa",
      "today": "Ultimo accesso oggi",
      "yesterday": "Ultimo accesso ieri",
      "week": "Ultimo accesso meno di una settimana fa",
      "month": "Ultimo accesso meno di un mese fa",
      "longAgo": "Ultimo accesso molto tempo fa",
      "minutesAgo": {"one": "Ultimo accesso {count} minuto fa", "other": "Ultimo accesso {count} minuti fa"},
      "hoursAgo": {"one": "Ultimo accesso {count} ora fa", "other": "Ultimo accesso {count} ore fa"},
      "daysAgo": {"one": "Ultimo accesso {count} giorno fa", "other": "Ultimo accesso {count} giorni fa"}
    },
    "presence": {
      "online": "Online",
      "away": "Assente",
      "offline": "Offline",
      "group": {"other": "{online} su {total} online"}
    },
    "connection": {"connecting": "Connessione in corso…", "failed": "Nessuna connessione", "signedOut": "Accedi di nuovo"}
  },
  {
    "id": "nl",
    "name": "Nederlands",
    "direction": "ltr",
    "list": {"pair": " en ", "middle": ", ", "last": " en "},
    "typing": {
      "verb": {"typing": "is aan het typen", "recording": "is aan het opnemen", "uploading": "is aan het uploaden", "thinking": "is aan het nadenken", "here": "is hier"},
      "verbs": {"typing": "zijn aan het typen", "recording": "zijn aan het opnemen", "uploading": "zijn aan het uploaden", "thinking": "zijn aan het nadenken", "here": "zijn hier"},
      "one": "{name} {verb}",
      "list": {"other": "{list} {verbs}"},
      "someone": "Iemand {verb}",
      "people": {"other": "{count} mensen {verbs}"},
      "several": "Meerdere mensen {verbs}",
      "person": "{name}",
      "others": {"one": "{count} ander", "other": "{count} anderen"},
      "someoneElse": "nog iemand",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "Nu actief",
      "justNow": "Zojuist voor het laatst gezien",
      "minutes": {"other": "{count} min. geleden"},
      "recently": "Onlangs actief",
      "today": "Vandaag voor het laatst gezien",
      "yesterday": "Gisteren voor het laatst gezien",
      "week": "Afgelopen week voor het laatst gezien",
      "month": "Afgelopen maand voor het laatst gezien",
      "longAgo": "Lang geleden voor het laatst gezien",
      "minutesAgo": {"one": "{count} minuut geleden voor het laatst gezien", "other": "{count} minuten geleden voor het laatst gezien"},
      "hoursAgo": {"other": "{count} uur geleden voor het laatst gezien"},
      "daysAgo": {"one": "{count} dag geleden voor het laatst gezien", "other": "{count} dagen geleden voor het laatst gezien"}
    },
    "presence": {
      "online": "Online",
      "away": "Afwezig",
      "offline": "Offline",
      "group": {"other": "{online} van de {total} online"}
    },
    "connection": {"connecting": "Verbinding maken…", "failed": "Geen verbinding", "signedOut": "Log opnieuw in"}
  },
  {
    "id": "pl",
    "name": "Polski",
    "direction": "ltr",
    "list": {"pair": " i ", "middle": ", ", "last": " i "},
    "typing": {
      "verb": {"typing": "pisze", "recording": "nagrywa", "uploading": "przesyła plik", "thinking": "zastanawia się", "here": "jest tutaj"},
      "verbs": {"typing": "piszą", "recording": "nagrywają", "uploading": "przesyłają plik", "thinking": "zastanawiają się", "here": "są tutaj"},
      "one": "{name} {verb}",
      "list": {"other": "{list} {verbs}"},
      "someone": "Ktoś {verb}",
      "people": {"few": "{count} osoby {verbs}", "other": "{count} osób {verb}"},
      "several": "Kilka osób {verb}",
      "person": "{name}",
      "others": {"one": "jeszcze {count} osoba", "few": "jeszcze {count} osoby", "other": "jeszcze {count} osób"},
      "someoneElse": "ktoś jeszcze",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "Teraz online",
      "justNow": "Ostatnia aktywność: przed chwilą",
      "minutes": {"other": "{count} min temu"},
      "recently": "Niedawno online",
      "today": "Ostatnia aktywność: dzisiaj",
      "yesterday": "Ostatnia aktywność: wczoraj",
      "week": "Ostatnia aktywność: w ciągu tygodnia",
      "month": "Ostatnia aktywność: w ciągu miesiąca",
      "longAgo": "Ostatnia aktywność: dawno temu",
      "minutesAgo": {"one": "Ostatnia aktywność: {count} minutę temu", "few": "Ostatnia aktywność: {count} minuty temu", "other": "Ostatnia aktywność: {count} minut temu"},
      "hoursAgo": {"one": "Ostatnia aktywność: {count} godzinę temu", "few": "Ostatnia aktywność: {count} godziny temu", "other": "Ostatnia aktywność: {count} godzin temu"},
      "daysAgo": {"one": "Ostatnia aktywność: {count} dzień temu", "other": "Ostatnia aktywność: {count} dni temu"}
    },
    "presence": {
      "online": "Online",
      "away": "Z dala od urządzenia",
      "offline": "Offline",
      "group": {"other": "{online} z {total} online"}
    },
    "connection": {"connecting": "Łączenie…", "failed": "Brak połączenia", "signedOut": "Zaloguj się ponownie"}
  },
  {
    "id": "ru",
    "name": "Русский",
    "direction": "ltr",
    "list": {"pair": " и ", "middle": ", ", "last": " и "},
    "typing": {
      "verb": {"typing": "печатает", "recording": "записывает аудио", "uploading": "загружает файл", "thinking": "думает", "here": "здесь"},
      "verbs": {"typing": "печатают", "recording": "записывают аудио", "uploading": "загружают файл", "thinking": "думают", "here": "здесь"},
      "one": "{name} {verb}",
      "list": {"other": "{list} {verbs}"},
      "someone": "Кто-то {verb}",
      "people": {"one": "{count} человек {verb}", "few": "{count} человека {verbs}", "other": "{count} человек {verbs}"},
      "several": "Несколько человек {verbs}",
      "person": "{name}",
      "others": {"one": "ещё {count} человек", "few": "ещё {count} человека", "other": "ещё {count} человек"},
      "someoneElse": "кто-то ещё",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "Сейчас в сети",
      "justNow": "Последний раз в сети только что",
      "minutes": {"other": "{count} мин. назад"},
      "recently": "Недавно в сети",
      "today": "Последний раз в сети сегодня",
      "yesterday": "Последний раз в сети вчера",
      "week": "Последний раз в сети в течение недели",
      "month": "Последний раз в сети в течение месяца",
      "longAgo": "Последний раз в сети давно",
      "minutesAgo": {"one": "Последний раз в сети {count} минуту назад", "few": "Последний раз в сети {count} минуты назад", "other": "Последний раз в сети {count} минут назад"},
      "hoursAgo": {"one": "Последний раз в сети {count} час назад", "few": "Последний раз в сети {count} часа назад", "other": "Последний раз в сети {count} часов назад"},
      "daysAgo": {"one": "Последний раз в сети {count} день назад", "few": "Последний раз в сети {count} дня назад", "other": "Последний раз в сети {count} дней назад"}
    },
    "presence": {
      "online": "В сети",
      "away": "Нет на месте",
      "offline": "Не в сети",
      "group": {"other": "{online} из {total} в сети"}
    },
    "connection": {"connecting": "Подключение…", "failed": "Нет соединения", "signedOut": "Войдите снова"}
  },
  {
    "id": "ar",
    "name": "العربية",
    "direction": "rtl",
    "list": {"pair": " و", "middle": " و", "last": " و"},
    "typing": {
      "verb": {"typing": "بصدد الكتابة", "recording": "بصدد التسجيل", "uploading": "بصدد رفع ملف", "thinking": "بصدد التفكير", "here": "هنا"},
      "verbs": {"typing": "بصدد الكتابة", "recording": "بصدد التسجيل", "uploading": "بصدد رفع ملف", "thinking": "بصدد التفكير", "here": "هنا"},
      "one": "{name} {verb}",
      "list": {"other": "{list} {verbs}"},
      "someone": "شخص ما {verb}",
      "people": {"two": "شخصان {verbs}", "few": "{count} أشخاص {verbs}", "many": "{count} شخصًا {verbs}", "other": "{count} شخص {verbs}"},
      "several": "عدة أشخاص {verbs}",
      "person": "{name}",
      "others": {"one": "شخص آخر", "two": "شخصان آخران", "few": "{count} أشخاص آخرين", "many": "{count} شخصًا آخر", "other": "{count} شخص آخر"},
      "someoneElse": "شخص آخر",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "على الإنترنت الآن",
      "justNow": "آخر ظهور قبل لحظات",
      "minutes": {"one": "قبل دقيقة", "two": "قبل دقيقتين", "few": "قبل {count} دقائق", "other": "قبل {count} دقيقة"},
      "recently": "آخر نشاط قبل قليل",
      "today": "آخر ظهور اليوم",
      "yesterday": "آخر ظهور أمس",
      "week": "آخر ظهور خلال أسبوع",
      "month": "آخر ظهور خلال شهر",
      "longAgo": "آخر ظهور منذ زمن بعيد",
      "minutesAgo": {"one": "آخر ظهور قبل دقيقة", "two": "آخر ظهور قبل دقيقتين", "few": "آخر ظهور قبل {count} دقائق", "other": "آخر ظهور قبل {count} دقيقة"},
      "hoursAgo": {"one": "آخر ظهور قبل ساعة", "two": "آخر ظهور قبل ساعتين", "few": "آخر ظهور قبل {count} ساعات", "other": "آخر ظهور قبل {count} ساعة"},
      "daysAgo": {"one": "آخر ظهور قبل يوم", "two": "آخر ظهور قبل يومين", "few": "آخر ظهور قبل {count} أيام", "many": "آخر ظهور قبل {count} يومًا", "other": "آخر ظهور قبل {count} يوم"}
    },
    "presence": {
      "online": "على الإنترنت",
      "away": "بلا نشاط",
      "offline": "بلا اتصال",
      "group": {"other": "{online} من {total} على الإنترنت"}
    },
    "connection": {"connecting": "جارٍ الاتصال…", "failed": "لا يوجد اتصال", "signedOut": "يُرجى تسجيل الدخول مرة أخرى"}
  },
  {
    "id": "he",
    "name": "עברית",
    "direction": "rtl",
    "list": {"pair": " ו-", "middle": ", ", "last": " ו-", "before": {"starts": ["א", "ב", "ג", "ד", "ה", "ו", "ז", "ח", "ט", "י", "כ", "ל", "מ", "נ", "ס", "ע", "פ", "צ", "ק", "ר", "ש", "ת"], "except": [], "use": " ו"}},
    "typing": {
      "verb": {"typing": "מקליד/ה", "recording": "מקליט/ה", "uploading": "מעלה קובץ", "thinking": "חושב/ת", "here": "כאן"},
      "verbs": {"typing": "מקלידים", "recording": "מקליטים", "uploading": "מעלים קובץ", "thinking": "חושבים", "here": "כאן"},
      "one": "{name} {verb}",
      "list": {"other": "{list} {verbs}"},
      "someone": "מישהו/י {verb}",
      "people": {"other": "{count} אנשים {verbs}"},
      "several": "כמה אנשים {verbs}",
      "person": "{name}",
      "others": {"one": "עוד אדם אחד", "other": "עוד {count} אנשים"},
      "someoneElse": "עוד מישהו",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "כאן עכשיו",
      "justNow": "חיבור אחרון: ממש עכשיו",
      "minutes": {"one": "לפני דקה", "two": "לפני שתי דקות", "other": "לפני {count} דקות"},
      "recently": "פעילות לפני זמן קצר",
      "today": "חיבור אחרון: היום",
      "yesterday": "חיבור אחרון: אתמול",
      "week": "חיבור אחרון: בשבוע האחרון",
      "month": "חיבור אחרון: בחודש האחרון",
      "longAgo": "חיבור אחרון: לפני זמן רב",
      "minutesAgo": {"one": "חיבור אחרון: לפני דקה", "two": "חיבור אחרון: לפני שתי דקות", "other": "חיבור אחרון: לפני {count} דקות"},
      "hoursAgo": {"one": "חיבור אחרון: לפני שעה", "two": "חיבור אחרון: לפני שעתיים", "other": "חיבור אחרון: לפני {count} שעות"},
      "daysAgo": {"one": "חיבור אחרון: לפני יום", "two": "חיבור אחרון: לפני יומיים", "other": "חיבור אחרון: לפני {count} ימים"}
    },
    "presence": {
      "online": "מחובר/ת",
      "away": "לא ליד המכשיר",
      "offline": "לא מחובר/ת",
      "group": {"one": "{online} מתוך {total} מחובר/ת", "other": "{online} מתוך {total} מחוברים"}
    },
    "connection": {"connecting": "התחברות…", "failed": "אין חיבור", "signedOut": "יש להיכנס שוב לחשבון"}
  },
  {
    "id": "hi",
    "name": "हिन्दी",
    "direction": "ltr",
    "list": {"pair": " और ", "middle": ", ", "last": " और "},
    "typing": {
      "verb": {"typing": "टाइप कर रहा है", "recording": "रिकॉर्ड कर रहा है", "uploading": "अपलोड कर रहा है", "thinking": "सोच रहा है", "here": "यहाँ है"},
      "verbs": {"typing": "टाइप कर रहे हैं", "recording": "रिकॉर्ड कर रहे हैं", "uploading": "अपलोड कर रहे हैं", "thinking": "सोच रहे हैं", "here": "यहाँ हैं"},
      "one": "{name} {verbs}",
      "list": {"other": "{list} {verbs}"},
      "someone": "कोई {verb}",
      "people": {"other": "{count} लोग {verbs}"},
      "several": "कई लोग {verbs}",
      "person": "{name}",
      "others": {"one": "{count} अन्य व्यक्ति", "other": "{count} अन्य लोग"},
      "someoneElse": "एक अन्य व्यक्ति",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "अभी ऑनलाइन",
      "justNow": "आख़िरी बार अभी-अभी ऑनलाइन",
      "minutes": {"other": "{count} मिनट पहले"},
      "recently": "कुछ देर पहले ऑनलाइन",
      "today": "आख़िरी बार आज ऑनलाइन",
      "yesterday": "आख़िरी बार कल ऑनलाइन",
      "week": "आख़िरी बार एक हफ़्ते के भीतर ऑनलाइन",
      "month": "आख़िरी बार एक महीने के भीतर ऑनलाइन",
      "longAgo": "आख़िरी बार बहुत पहले ऑनलाइन",
      "minutesAgo": {"other": "आख़िरी बार {count} मिनट पहले ऑनलाइन"},
      "hoursAgo": {"other": "आख़िरी बार {count} घंटे पहले ऑनलाइन"},
      "daysAgo": {"other": "आख़िरी बार {count} दिन पहले ऑनलाइन"}
    },
    "presence": {
      "online": "ऑनलाइन",
      "away": "फ़िलहाल दूर",
      "offline": "ऑफ़लाइन",
      "group": {"other": "{total} में से {online} ऑनलाइन"}
    },
    "connection": {"connecting": "कनेक्ट हो रहा है…", "failed": "कनेक्शन नहीं है", "signedOut": "कृपया फिर से साइन इन करें"}
  },
  {
    "id": "ja",
    "name": "日本語",
    "direction": "ltr",
    "list": {"pair": "と", "middle": "、", "last": "、"},
    "typing": {
      "verb": {"typing": "入力中", "recording": "録音中", "uploading": "アップロード中", "thinking": "考え中", "here": "ここにいます"},
      "verbs": {"typing": "入力中", "recording": "録音中", "uploading": "アップロード中", "thinking": "考え中", "here": "ここにいます"},
      "one": "{name}が{verb}",
      "list": {"other": "{list}が{verbs}"},
      "someone": "誰かが{verb}",
      "people": {"other": "{count}人が{verbs}"},
      "several": "複数の人が{verbs}",
      "person": "{name}さん",
      "others": {"other": "ほか{count}人"},
      "someoneElse": "ほか1人",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "オンライン中",
      "justNow": "最終アクセス：たった今",
      "minutes": {"other": "{count}分前"},
      "recently": "少し前までオンライン",
      "today": "最終アクセス：今日",
      "yesterday": "最終アクセス：昨日",
      "week": "最終アクセス：1週間以内",
      "month": "最終アクセス：1か月以内",
      "longAgo": "最終アクセス：ずっと前",
      "minutesAgo": {"other": "最終アクセス：{count}分前"},
      "hoursAgo": {"other": "最終アクセス：{count}時間前"},
      "daysAgo": {"other": "最終アクセス：{count}日前"}
    },
    "presence": {
      "online": "オンライン",
      "away": "離席中",
      "offline": "オフライン",
      "group": {"other": "{total}人中{online}人がオンライン"}
    },
    "connection": {"connecting": "接続中…", "failed": "接続されていません", "signedOut": "もう一度サインインしてください"}
  },
  {
    "id": "ko",
    "name": "한국어",
    "direction": "ltr",
    "list": {"pair": "과 ", "middle": ", ", "last": " 및 "},
    "typing": {
      "verb": {"typing": "입력 중", "recording": "녹음 중", "uploading": "업로드 중", "thinking": "생각 중", "here": "여기 있음"},
      "verbs": {"typing": "입력 중", "recording": "녹음 중", "uploading": "업로드 중", "thinking": "생각 중", "here": "여기 있음"},
      "one": "{name}이 {verb}",
      "list": {"other": "{list}이 {verbs}"},
      "someone": "누군가 {verb}",
      "people": {"other": "{count}명이 {verbs}"},
      "several": "여러 명이 {verbs}",
      "person": "{name}님",
      "others": {"other": "다른 {count}명"},
      "someoneElse": "다른 1명",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "현재 활동 중",
      "justNow": "마지막 접속: 방금 전",
      "minutes": {"other": "{count}분 전"},
      "recently": "조금 전 활동",
      "today": "마지막 접속: 오늘",
      "yesterday": "마지막 접속: 어제",
      "week": "마지막 접속: 일주일 이내",
      "month": "마지막 접속: 한 달 이내",
      "longAgo": "마지막 접속: 오래전",
      "minutesAgo": {"other": "마지막 접속: {count}분 전"},
      "hoursAgo": {"other": "마지막 접속: {count}시간 전"},
      "daysAgo": {"other": "마지막 접속: {count}일 전"}
    },
    "presence": {
      "online": "온라인",
      "away": "자리 비움",
      "offline": "오프라인",
      "group": {"other": "{total}명 중 {online}명 온라인"}
    },
    "connection": {"connecting": "연결 중…", "failed": "연결되지 않음", "signedOut": "다시 로그인하세요"}
  },
  {
    "id": "zh-Hans",
    "name": "简体中文",
    "direction": "ltr",
    "list": {"pair": "和", "middle": "、", "last": "和"},
    "typing": {
      "verb": {"typing": "正在输入", "recording": "正在录音", "uploading": "正在上传", "thinking": "正在思考", "here": "在这里"},
      "verbs": {"typing": "正在输入", "recording": "正在录音", "uploading": "正在上传", "thinking": "正在思考", "here": "在这里"},
      "one": "{name}{verb}",
      "list": {"other": "{list}{verbs}"},
      "someone": "有人{verb}",
      "people": {"other": "{count}人{verbs}"},
      "several": "多人{verbs}",
      "person": "{name}",
      "others": {"other": "另外{count}人"},
      "someoneElse": "另外1人",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "当前在线",
      "justNow": "上次在线：刚刚",
      "minutes": {"other": "{count}分钟前"},
      "recently": "不久前在线",
      "today": "上次在线：今天",
      "yesterday": "上次在线：昨天",
      "week": "上次在线：一周内",
      "month": "上次在线：一个月内",
      "longAgo": "上次在线：很久以前",
      "minutesAgo": {"other": "上次在线：{count}分钟前"},
      "hoursAgo": {"other": "上次在线：{count}小时前"},
      "daysAgo": {"other": "上次在线：{count}天前"}
    },
    "presence": {
      "online": "在线",
      "away": "离开",
      "offline": "离线",
      "group": {"other": "{total}人中有{online}人在线"}
    },
    "connection": {"connecting": "正在连接…", "failed": "未连接", "signedOut": "请重新登录"}
  },
  {
    "id": "zh-Hant",
    "name": "繁體中文",
    "direction": "ltr",
    "list": {"pair": "和", "middle": "、", "last": "和"},
    "typing": {
      "verb": {"typing": "正在輸入", "recording": "正在錄音", "uploading": "正在上傳", "thinking": "正在思考", "here": "在這裡"},
      "verbs": {"typing": "正在輸入", "recording": "正在錄音", "uploading": "正在上傳", "thinking": "正在思考", "here": "在這裡"},
      "one": "{name}{verb}",
      "list": {"other": "{list}{verbs}"},
      "someone": "有人{verb}",
      "people": {"other": "{count}人{verbs}"},
      "several": "多人{verbs}",
      "person": "{name}",
      "others": {"other": "另外{count}人"},
      "someoneElse": "另外1人",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "目前在線上",
      "justNow": "上次上線：剛剛",
      "minutes": {"other": "{count}分鐘前"},
      "recently": "不久前在線上",
      "today": "上次上線：今天",
      "yesterday": "上次上線：昨天",
      "week": "上次上線：一週內",
      "month": "上次上線：一個月內",
      "longAgo": "上次上線：很久以前",
      "minutesAgo": {"other": "上次上線：{count}分鐘前"},
      "hoursAgo": {"other": "上次上線：{count}小時前"},
      "daysAgo": {"other": "上次上線：{count}天前"}
    },
    "presence": {
      "online": "線上",
      "away": "離開",
      "offline": "離線",
      "group": {"other": "{total}人中有{online}人在線上"}
    },
    "connection": {"connecting": "正在連線…", "failed": "未連線", "signedOut": "請重新登入"}
  },
  {
    "id": "tr",
    "name": "Türkçe",
    "direction": "ltr",
    "list": {"pair": " ve ", "middle": ", ", "last": " ve "},
    "typing": {
      "verb": {"typing": "yazıyor", "recording": "ses kaydediyor", "uploading": "dosya yüklüyor", "thinking": "düşünüyor", "here": "burada"},
      "verbs": {"typing": "yazıyor", "recording": "ses kaydediyor", "uploading": "dosya yüklüyor", "thinking": "düşünüyor", "here": "burada"},
      "one": "{name} {verb}",
      "list": {"other": "{list} {verbs}"},
      "someone": "Birisi {verb}",
      "people": {"other": "{count} kişi {verbs}"},
      "several": "Birkaç kişi {verbs}",
      "person": "{name}",
      "others": {"other": "{count} kişi daha"},
      "someoneElse": "bir kişi daha",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "Şu anda çevrimiçi",
      "justNow": "Son görülme: az önce",
      "minutes": {"other": "{count} dk. önce"},
      "recently": "Kısa süre önce çevrimiçiydi",
      "today": "Son görülme: bugün",
      "yesterday": "Son görülme: dün",
      "week": "Son görülme: bir hafta içinde",
      "month": "Son görülme: bir ay içinde",
      "longAgo": "Son görülme: uzun zaman önce",
      "minutesAgo": {"other": "Son görülme: {count} dakika önce"},
      "hoursAgo": {"other": "Son görülme: {count} saat önce"},
      "daysAgo": {"other": "Son görülme: {count} gün önce"}
    },
    "presence": {
      "online": "Çevrimiçi",
      "away": "Uzakta",
      "offline": "Çevrimdışı",
      "group": {"other": "{online}/{total} kişi çevrimiçi"}
    },
    "connection": {"connecting": "Bağlanıyor…", "failed": "Bağlantı yok", "signedOut": "Lütfen yeniden giriş yapın"}
  },
  {
    "id": "uk",
    "name": "Українська",
    "direction": "ltr",
    "list": {"pair": " і ", "middle": ", ", "last": " і ", "before": {"starts": ["і", "ї", "й", "i"], "except": [], "use": " та "}},
    "typing": {
      "verb": {"typing": "друкує", "recording": "записує аудіо", "uploading": "надсилає файл", "thinking": "думає", "here": "тут"},
      "verbs": {"typing": "друкують", "recording": "записують аудіо", "uploading": "надсилають файл", "thinking": "думають", "here": "тут"},
      "one": "{name} {verb}",
      "list": {"other": "{list} {verbs}"},
      "someone": "Хтось {verb}",
      "people": {"one": "{count} людина {verb}", "few": "{count} людини {verbs}", "other": "{count} людей {verbs}"},
      "several": "Кілька людей {verbs}",
      "person": "{name}",
      "others": {"one": "ще {count} людина", "few": "ще {count} людини", "other": "ще {count} людей"},
      "someoneElse": "ще хтось",
      "beforeDots": ""
    },
    "lastSeen": {
      "now": "Зараз у мережі",
      "justNow": "Востаннє в мережі щойно",
      "minutes": {"other": "{count} хв тому"},
      "recently": "Нещодавно в мережі",
      "today": "Востаннє в мережі сьогодні",
      "yesterday": "Востаннє в мережі вчора",
      "week": "Востаннє в мережі впродовж тижня",
      "month": "Востаннє в мережі впродовж місяця",
      "longAgo": "Востаннє в мережі давно",
      "minutesAgo": {"one": "Востаннє в мережі {count} хвилину тому", "few": "Востаннє в мережі {count} хвилини тому", "other": "Востаннє в мережі {count} хвилин тому"},
      "hoursAgo": {"one": "Востаннє в мережі {count} годину тому", "few": "Востаннє в мережі {count} години тому", "other": "Востаннє в мережі {count} годин тому"},
      "daysAgo": {"one": "Востаннє в мережі {count} день тому", "few": "Востаннє в мережі {count} дні тому", "other": "Востаннє в мережі {count} днів тому"}
    },
    "presence": {
      "online": "У мережі",
      "away": "Немає на місці",
      "offline": "Не в мережі",
      "group": {"other": "{online} з {total} у мережі"}
    },
    "connection": {"connecting": "З’єднання…", "failed": "Немає з’єднання", "signedOut": "Увійдіть знову"}
  }
]
