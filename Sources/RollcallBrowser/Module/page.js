// What a page tells of its user: whether it is seen, and whether there is input. See `followPage`.

import { MINUTE, SECOND } from "./messages.js";
import { ending, listening } from "./updates.js";

/** What only a person makes. */
const INPUT = ["keydown", "pointerdown", "pointermove", "wheel", "touchstart", "click", "input"];
/** What a script may cause too. Screen readers and other aids often cause nothing else. */
const MOVEMENT = ["focusin", "scroll"];

/** Whether the system suspends a hidden page, as on phones and tablets. An iPad calls itself a Macintosh. */
function isSuspendedWhenHidden() {
  const { userAgentData, userAgent = "", maxTouchPoints = 0 } = /** @type {any} */ (globalThis.navigator ?? {});
  return userAgentData?.mobile === true || /Android|iPhone|iPad|Mobile/.test(userAgent)
    || /Macintosh/.test(userAgent) && maxTouchPoints > 1;
}

/** The document in a frame, if it is of this page's origin. */
function documentIn(frame) {
  try {
    return frame.contentDocument ?? null;
  } catch {
    return null;
  }
}

/** Reports input in a document and in its frames, also in those that come later. Returns the function that ends that. */
function followInput(top, report) {
  /** The functions that end the listening, by document. */
  const endings = new Map();
  const follow = (document) => {
    // Frames that are gone, or show another page.
    for (const [each, end] of endings) {
      if (each === top || each.defaultView) continue;
      end();
      endings.delete(each);
    }
    if (!document?.addEventListener || endings.has(document)) return;
    const handlers = { load: ({ target }) => follow(documentIn(target)) };
    for (const type of INPUT) handlers[type] = ({ isTrusted }) => isTrusted && report(true);
    for (const type of MOVEMENT) handlers[type] = ({ isTrusted }) => isTrusted && report(false);
    endings.set(document, listening(document, handlers));
    for (const frame of document.querySelectorAll?.("iframe, frame") ?? []) follow(documentIn(frame));
  };
  follow(top);
  return () => { for (const end of endings.values()) end(); };
}

/** Whether a frame of another origin has the focus: the page learns of no input in it. */
function isInFrame(document) {
  const active = document.activeElement;
  return /^I?FRAME$/.test(active?.tagName ?? "") && documentIn(active) === null && document.hasFocus?.() === true;
}

export function followPage(client, engine, { idleAfterHidden = MINUTE, restAfter = 30 * SECOND, hiddenIs = undefined } = {}) {
  const { document } = globalThis;
  if (!document?.addEventListener) throw new Error("followPage needs a page: elsewhere, call setPhase and inputHappened");
  engine.restsAfter(restAfter ?? Infinity);
  engine.asksBeforeIdle(() => isInFrame(document));
  const isSuspended = hiddenIs === undefined ? isSuspendedWhenHidden() : hiddenIs === "background";
  let [idling, wasSeen, wasHidden, isLong, isLeft, isKept] = [undefined, false, false, false, false, false];
  const follow = () => {
    clearTimeout(idling);
    if (!document.hidden) {
      client.setPhase("active");
      client.inputHappened();
      if (wasHidden) engine.returned({ wasLong: isLong });
      [wasSeen, wasHidden, isLong] = [true, false, false];
      return;
    }
    wasHidden = true;
    if (isSuspended) {
      client.setPhase("background");
      return;
    }
    engine.endTyping();
    const idle = () => {
      isLong = true;
      client.setState("idle");
    };
    // A page that was opened in the background was never looked at.
    if (wasSeen) idling = setTimeout(idle, idleAfterHidden);
    else idle();
  };
  const endings = [
    followInput(document, (isCertain) => engine.inputHappened(isCertain)),
    listening(document, { visibilitychange: () => isLeft || follow() }),
    listening(globalThis, {
      pagehide: ({ persisted }) => {
        isLeft = true;
        engine.endTyping();
        // A page that the browser keeps for its back button must not keep a connection.
        isKept = persisted && engine.connection.isActive;
        if (isKept) engine.disconnect({ goodbye: false, forgets: false });
      },
      pageshow: ({ persisted }) => {
        isLeft = false;
        if (persisted && isKept) client.connect();
        isKept = false;
        follow();
      },
    }),
  ];
  follow();
  return ending(() => {
    clearTimeout(idling);
    engine.asksBeforeIdle(() => false);
    for (const end of endings) end();
  });
}
