/**
 * Downloads from servers that nobody here controls. They are asked over https only, and limits
 * bound what they can do. The content is held in memory until its sum is right, so that nothing
 * else ever reaches the disk.
 */

export interface DownloadLimits {
  readonly maxBytes: number;
  /** From the request to the last byte, redirects included. */
  readonly timeoutMs: number;
  readonly maxRedirects: number;
}

/** The largest file has 5.4 MB. */
const usualLimits: DownloadLimits = {
  maxBytes: 16 * 1024 * 1024,
  timeoutMs: 120_000,
  maxRedirects: 5,
};

/** The message goes on after the address: `answered 404`. */
export class DownloadError extends Error {
  override readonly name = "DownloadError";
  /** A sentence for the user. */
  readonly advice: string;

  constructor(message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.advice = advice;
  }
}

const again = "Run deno task fetch again: it fetches only files that are missing.";
const online =
  "Is this machine online? HTTPS_PROXY names a proxy, DENO_TLS_CA_STORE=system trusts its certificate.";
const report = "Nothing of it was kept. If this stays, report it as an issue.";

export class Downloader {
  readonly #limits: DownloadLimits;
  /** A server that cannot be reached is asked once, because each try may take the whole time. */
  readonly #unreachable = new Set<string>();

  constructor(limits: Partial<DownloadLimits> = {}) {
    this.#limits = { ...usualLimits, ...limits };
  }

  /**
   * Returns the content at an address. Throws a `DownloadError` when it is not there or has another
   * sum.
   */
  async download(address: string, sha256: string): Promise<Uint8Array<ArrayBuffer>> {
    const signal = AbortSignal.timeout(this.#limits.timeoutMs);
    const response = await this.#request(new URL(address), signal);
    const content = await this.#read(response, signal);
    const sum = await sha256Of(content);
    if (sum !== sha256) {
      throw new DownloadError(`has the SHA-256 ${sum} instead of ${sha256}`, report);
    }
    return content;
  }

  async #request(first: URL, signal: AbortSignal): Promise<Response> {
    let url = first;
    for (let redirects = 0; redirects <= this.#limits.maxRedirects; redirects++) {
      if (!isAllowed(url, first)) {
        throw new DownloadError(`leads to ${url.origin}, which is not https`, report);
      }
      const response = await this.#ask(url, signal);
      if (response.ok) return response;
      await response.body?.cancel();
      const target = response.headers.get("location");
      if (
        response.status < 300 || response.status > 399 || target === null ||
        !URL.canParse(target, url)
      ) {
        throw new DownloadError(`answered ${response.status}`, report);
      }
      url = new URL(target, url);
    }
    throw new DownloadError(`redirects more than ${this.#limits.maxRedirects} times`, report);
  }

  async #ask(url: URL, signal: AbortSignal): Promise<Response> {
    if (this.#unreachable.has(url.host)) {
      throw new DownloadError("cannot be reached, as before", online);
    }
    try {
      return await fetch(url, { redirect: "manual", signal });
    } catch (cause) {
      this.#unreachable.add(url.host);
      const why = signal.aborted ? this.#late() : `cannot be reached (${reasonOf(cause)})`;
      throw new DownloadError(why, online, { cause });
    }
  }

  async #read(response: Response, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const { maxBytes } = this.#limits;
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    try {
      for await (const part of response.body ?? []) {
        length += part.length;
        if (length > maxBytes) throw new DownloadError(`has more than ${maxBytes} bytes`, report);
        parts.push(part);
      }
    } catch (cause) {
      if (cause instanceof DownloadError) throw cause;
      const why = signal.aborted
        ? this.#late()
        : `broke off after ${length} bytes (${reasonOf(cause)})`;
      throw new DownloadError(why, again, { cause });
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  }

  #late(): string {
    return `took more than ${this.#limits.timeoutMs / 1000} s`;
  }
}

export async function sha256Of(content: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", content)).toHex();
}

/** Plain http is for tests: only on loopback, and only for an address that began there. */
function isAllowed(url: URL, first: URL): boolean {
  return url.protocol === "https:" ||
    [url, first].every(({ hostname }) => hostname === "127.0.0.1");
}

/** The runtime says `fetch failed`, and the reason in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
