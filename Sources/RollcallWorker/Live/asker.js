// Sends requests to the admin port that served this page, with a token if it requires one.

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
   * Never throws. On success the result has `body`. Otherwise `problem` is the reason, `unavailable` is true if Redis is
   * away, and `wantsToken` is true if the token is missing or wrong.
   */
  async get(path) {
    const headers = authorization(this.token);
    if (!headers) return { wantsToken: true };
    try {
      const response = await fetch(path, { headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
      const body = await response.json();
      if (response.ok) return { body };
      // A port without a token answers only this machine; entering a token would not help.
      const wantsToken = response.status === 401 && response.headers.has("WWW-Authenticate");
      return { problem: body.detail, unavailable: response.status === 503, wantsToken };
    } catch {
      return {};
    }
  }
}

/** Headers hold bytes: the token in UTF-8. Empty for a token that is not valid in a header. */
function authorization(token) {
  if (!token) return new Headers();
  try {
    return new Headers({ Authorization: `Bearer ${String.fromCharCode(...new TextEncoder().encode(token))}` });
  } catch {
    return null;
  }
}
