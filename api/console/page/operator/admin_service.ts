/**
 * The admin port as its page uses it. The operator's secret is in this object and nowhere else: no
 * cookie and no storage has it, a reload forgets it, and so does a quarter of an hour without use.
 */
import { readAnswer, ServiceError } from "../service.ts";

const deadlineMs = 20_000;
const idleMs = 15 * 60_000;

export class AdminService {
  #secret: string | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();

  get isOpen(): boolean {
    return this.#secret !== undefined;
  }

  /** Returns the function that ends it. */
  listen(run: () => void): () => void {
    this.#listeners.add(run);
    return () => void this.#listeners.delete(run);
  }

  async enter(secret: string): Promise<void> {
    // A header can hold nothing else, and a secret has nothing else.
    if (!/^[!-~]+$/.test(secret)) {
      throw new ServiceError("That is not the operator's secret", 401, "auth_failed");
    }
    await this.#call("view", { view: "plans" }, secret);
    this.#secret = secret;
    this.#touch();
    this.#tell();
  }

  lock(): void {
    clearTimeout(this.#idle);
    this.#secret = undefined;
    this.#tell();
  }

  async view<T>(query: Readonly<Record<string, unknown>>): Promise<T> {
    return await this.#own<T>("view", query);
  }

  /** A command of `deno task admin`. Returns what it says. */
  async run(...args: readonly string[]): Promise<string> {
    return (await this.#own<{ text: string }>("run", { args })).text;
  }

  async #own<T>(path: "view" | "run", body: object): Promise<T> {
    const secret = this.#secret;
    if (secret === undefined) throw new ServiceError("The page is locked", 401, "auth_failed");
    this.#touch();
    try {
      return await this.#call<T>(path, body, secret);
    } catch (error) {
      if (error instanceof ServiceError && error.status === 401) this.lock();
      throw error;
    }
  }

  async #call<T>(path: "view" | "run", body: object, secret: string): Promise<T> {
    const response = await fetch(`/admin/v1/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(deadlineMs),
      body: JSON.stringify(body),
    }).catch(() => {
      throw new ServiceError(
        "The admin port does not answer. Check that the API runs, then try again",
        0,
        "unreachable",
      );
    });
    if (response.status === 401) {
      throw new ServiceError("That is not the operator's secret", 401, "auth_failed");
    }
    return await readAnswer<T>(response);
  }

  #touch(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.lock(), idleMs);
  }

  #tell(): void {
    for (const run of this.#listeners) run();
  }
}
