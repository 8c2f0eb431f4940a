// Asks the admin port that served this page, with its token if it wants one.

const KEY = "rollcall-admin-token";
const PATIENCE = 4000;

export class Asker {
  get token() {
    return sessionStorage.getItem(KEY) ?? "";
  }

  set token(token) {
    sessionStorage.setItem(KEY, token);
  }

  /**
   * Never throws: `body` is what was answered; without it `problem` says why there is none, `unavailable` that Redis is
   * away, and `wantsToken` that none, or a wrong one, was shown.
   */
  async get(path) {
    const headers = authorization(this.token);
    if (!headers) return { wantsToken: true };
    try {
      const response = await fetch(path, { headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
      const body = await response.json();
      if (response.ok) return { body };
      // Without a token in use it answers to this machine alone, and no token helps.
      const wantsToken = response.status === 401 && response.headers.has("WWW-Authenticate");
      return { problem: body.detail, unavailable: response.status === 503, wantsToken };
    } catch {
      return {};
    }
  }
}

/** A header holds bytes: those of the token in UTF-8. Nothing for a token that no header can hold. */
function authorization(token) {
  if (!token) return new Headers();
  try {
    return new Headers({ Authorization: `Bearer ${String.fromCharCode(...new TextEncoder().encode(token))}` });
  } catch {
    return null;
  }
}
