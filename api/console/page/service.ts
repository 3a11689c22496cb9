/**
 * The API as the console uses it: the session's cookie, which no script sees, and the header that
 * proves that this page sends it. Nothing is kept beyond the page. A refusal of the session is
 * asked about before it is believed, because a wrong password is refused with the same code.
 */

export interface SessionInfo {
  readonly account_id: string;
  readonly csrf: string;
  readonly expires_at: string;
}

/**
 * `ended`: somebody was signed in, and what is on the page stays there until they sign in again.
 */
export type SignIn =
  | { readonly state: "unknown" | "out" }
  | { readonly state: "unreachable"; readonly error: ServiceError }
  | { readonly state: "in" | "ended"; readonly accountId: string; readonly expiresAt: string };

export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
}

export class ServiceError extends Error {
  override readonly name = "ServiceError";
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly details: readonly FieldProblem[] = [],
  ) {
    super(message);
  }
}

type HttpMethod = "GET" | "POST" | "PATCH" | "DELETE";
const deadlineMs = 20_000;

export class ConsoleService {
  #csrf: string | undefined;
  #signIn: SignIn = { state: "unknown" };
  readonly #listeners = new Set<() => void>();

  get signIn(): SignIn {
    return this.#signIn;
  }

  /** Returns the function that ends it. */
  listen(run: () => void): () => void {
    this.#listeners.add(run);
    return () => void this.#listeners.delete(run);
  }

  /** Asks whether this browser has a session. */
  async begin(): Promise<void> {
    try {
      this.#enter(await this.#readSession());
    } catch (error) {
      const failure = asServiceError(error);
      this.#set(
        failure.status === 401 ? { state: "out" } : { state: "unreachable", error: failure },
      );
    }
  }

  async logIn(email: string, password: string): Promise<void> {
    this.#enter(await this.#call<SessionInfo>("POST", "/v1/session", { email, password }));
  }

  /** Throws when the service has not heard it: the session goes on then, and the page says so. */
  async logOut(): Promise<void> {
    try {
      await this.#call("DELETE", "/v1/session");
    } catch (error) {
      if (asServiceError(error).status !== 401) throw error;
    }
    this.#leave();
  }

  /**
   * For what ends all sessions, as a new password does. Several requests that were refused at once
   * all ask; when somebody has entered or left meanwhile, the answer is an old one.
   */
  async checkSession(): Promise<void> {
    const before = this.#signIn;
    try {
      const session = await this.#readSession();
      if (this.#signIn === before) this.#enter(session);
    } catch (error) {
      if (asServiceError(error).status === 401 && this.#signIn === before) this.#end();
    }
  }

  /** Somebody leaves for good: the page forgets everything. */
  forget(): void {
    this.#leave();
  }

  async get<T>(path: string): Promise<T> {
    return await this.#own<T>("GET", path);
  }

  async send<T>(method: Exclude<HttpMethod, "GET">, path: string, body?: object): Promise<T> {
    return await this.#own<T>(method, path, body);
  }

  /** Without a session: sign-up, reset. */
  async open<T>(path: string, body: object): Promise<T> {
    return await this.#call<T>("POST", path, body);
  }

  async #own<T>(method: HttpMethod, path: string, body?: object): Promise<T> {
    try {
      return await this.#call<T>(method, path, body);
    } catch (error) {
      const { status, code } = asServiceError(error);
      // Another tab may have signed in as somebody else: the cookie is then theirs, and this page
      // is not.
      if (status === 401 || code === "csrf_failed") await this.checkSession();
      throw error;
    }
  }

  async #call<T>(method: HttpMethod, path: string, body?: object, isProven = true): Promise<T> {
    const response = await fetch(path, {
      method,
      headers: {
        ...(body !== undefined && { "content-type": "application/json" }),
        // With reads too: so a page never shows what belongs to the account of another tab.
        ...(isProven && this.#csrf !== undefined && { "x-static-csrf": this.#csrf }),
      },
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(deadlineMs),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch(() => {
      throw new ServiceError(
        "The service does not answer. Check the connection, then try again",
        0,
        "unreachable",
      );
    });
    return await readAnswer<T>(response);
  }

  /** Reads the present session, without the proof of an older one. */
  #readSession(): Promise<SessionInfo> {
    return this.#call<SessionInfo>("GET", "/v1/session", undefined, false);
  }

  #enter({ account_id: accountId, csrf, expires_at: expiresAt }: SessionInfo): void {
    this.#csrf = csrf;
    this.#set({ state: "in", accountId, expiresAt });
  }

  #end(): void {
    this.#csrf = undefined;
    if (this.#signIn.state === "in") this.#set({ ...this.#signIn, state: "ended" });
  }

  #leave(): void {
    this.#csrf = undefined;
    this.#set({ state: "out" });
  }

  #set(signIn: SignIn): void {
    this.#signIn = signIn;
    for (const run of this.#listeners) run();
  }
}

/** The answer's JSON, or its refusal as an error. */
export async function readAnswer<T>(response: Response): Promise<T> {
  const text = await response.text().catch(() => "");
  const json = parse(text);
  if (response.ok) return json as T; // cast: the page and the API are of one release
  const { error, code, details } = (json ?? {}) as {
    error?: unknown;
    code?: unknown;
    details?: unknown;
  }; // cast: checked below
  throw new ServiceError(
    typeof error === "string" ? error : `The service failed (${response.status}). Try again`,
    response.status,
    typeof code === "string" ? code : "",
    Array.isArray(details) ? details : [],
  );
}

function parse(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError(error instanceof Error ? error.message : String(error), 0, "fault");
}
