/**
 * Brings a leaf from an earlier version of the program up to this one, without being asked: a member whose leaf does not tell
 * what this version is capable of renews it. It does so at a random moment, so that the members of a large channel do not commit
 * all at once; any other commit does it on its way.
 */
import { isCode } from "../base/errors.ts";
import type { ChannelDeps } from "./deps.ts";
import { toStaticError } from "./faults.ts";
import type { HealthLog } from "./health.ts";
import type { Membership } from "./membership.ts";
import { isRenewalWanted } from "./plans.ts";
import type { CommitRunner } from "./runner/commit_runner.ts";

/** The latest moment for it, after the first one at which it was possible; in a large channel so that no more than six a minute come. */
const [withinMs, eachMs] = [5 * 60_000, 10_000] as const;

export interface RenewalParts {
  readonly membership: Membership;
  readonly commits: CommitRunner;
  readonly health: HealthLog;
}

export class Renewal {
  readonly #deps: Pick<ChannelDeps, "runtime">;
  readonly #parts: RenewalParts;
  #isActive = false;
  #cancel: (() => void) | undefined;

  constructor(parts: RenewalParts, deps: Pick<ChannelDeps, "runtime">) {
    this.#parts = parts;
    this.#deps = deps;
    parts.membership.onMoved(() => this.#isActive && this.look());
  }

  /** From now on, until `stop`. */
  look(): void {
    this.#isActive = true;
    if (this.#cancel !== undefined || !isRenewalWanted(this.#parts.membership)) return;
    const [high = 0, low = 0] = this.#deps.runtime.randomBytes(2);
    const spreadMs = Math.max(withinMs, eachMs * this.#parts.membership.group.members().length);
    const ms = spreadMs * (high * 256 + low) / 0xffff;
    this.#cancel = this.#deps.runtime.after(ms, () => void this.#renew());
  }

  stop(): void {
    this.#isActive = false;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #renew(): Promise<void> {
    const { commits, health } = this.#parts;
    try {
      await commits.commit({ is: "renew" });
    } catch (error) {
      if (this.#isActive && !isCode(error, "transport_error", "connection_error")) {
        const why = toStaticError(error, "Cannot commit").message;
        health.report("duty_failed", `The channel does not use the features of this version yet: ${why}`);
      }
    }
    this.#cancel = undefined;
    if (this.#isActive) this.look();
  }
}
