/**
 * How a channel goes from one generation of its group to the next: it stops at a commit that it cannot follow, passes over what
 * it cannot read, follows a founding or refuses it.
 */
import { foundingHash, generationOf, type NoticeBody, type NoticeEnvelope } from "../../proto/mod.ts";
import type { Caretaker } from "./caretaker.ts";
import type { Committer } from "./commits.ts";
import type { HealthLog } from "./health.ts";
import type { Inbox } from "./inbox.ts";
import type { LogReader } from "./log_reader.ts";
import type { Membership } from "./membership.ts";
import type { Progress } from "./progress.ts";
import type { Begun, Recovery } from "./recovery.ts";
import type { Rejoiner } from "./rejoin.ts";
import type { Doubt } from "./store_age.ts";
import type { Subscription } from "./subscription.ts";

export interface GenerationsParts {
  readonly membership: Membership;
  readonly committer: Committer;
  readonly recovery: Recovery;
  readonly rejoiner: Rejoiner;
  readonly reader: LogReader;
  readonly progress: Progress;
  readonly subscription: Subscription;
  readonly caretaker: Caretaker;
  readonly inbox: Inbox;
  readonly health: HealthLog;
  /** Nothing is sent from here on. */
  readonly suspend: () => void;
  /** The channel works again. */
  readonly goOn: () => void;
  /** Our group is of no use any more: join anew. */
  readonly comeBack: (doubt: Doubt) => void;
}

export class Generations {
  readonly #parts: GenerationsParts;
  /** A generation that this agent does not follow: what belongs to it is passed over. */
  #foreign: number | undefined;

  constructor(parts: GenerationsParts) {
    this.#parts = parts;
  }

  /** Whether an epoch belongs to a generation that this agent does not follow. */
  isForeign(epoch: number): boolean {
    return this.#foreign !== undefined && generationOf(epoch) >= this.#foreign;
  }

  /** Our group is another one: what was foreign to the one before may be our own now. */
  forgetForeign(): void {
    this.#foreign = undefined;
  }

  /** A commit that its sender signed and that we cannot follow. Everything stays as it is until an owner founds anew. */
  async stopAt(commit: NoticeBody<"DeliverCommit">, reason: string): Promise<void> {
    const { membership, recovery, caretaker, comeBack, suspend } = this.#parts;
    const bad = membership.badCommitOf(commit, reason);
    if (bad === undefined) return comeBack({ reason });
    await recovery.stop(bad);
    suspend();
    caretaker.stop();
    this.askWhenRead();
  }

  /**
   * While we are stopped: we may be the only one that cannot follow, so we ask to be let in. What is unread would be lost by
   * coming back, so it is read first.
   */
  askWhenRead(): void {
    const { recovery: { stopped, mayAsk }, inbox, rejoiner } = this.#parts;
    if (stopped !== undefined && mayAsk && inbox.unread === 0) rejoiner.start({ reason: stopped.reason });
  }

  /** Returns whether an entry of the log was one to pass over: behind the commit at which we are stopped, or foreign. */
  passOver(notice: NoticeEnvelope): boolean {
    const { recovery, reader } = this.#parts;
    const isBehind = recovery.isBehind(notice);
    if (isBehind) this.askWhenRead();
    if (notice.operation !== "DeliverMessage" && notice.operation !== "DeliverCommit") return isBehind;
    const { sequence, epoch } = notice.body;
    if (isBehind) this.#passBehind(notice.body);
    else if (this.isForeign(epoch)) reader.passForeign(sequence);
    else return false;
    return true;
  }

  /** None of them is acknowledged as done with. */
  #passBehind(entry: NoticeBody<"DeliverMessage"> | NoticeBody<"DeliverCommit">): void {
    const { recovery, subscription } = this.#parts;
    if ("ciphertext" in entry) recovery.passOver();
    subscription.received(entry.sequence, "ciphertext" in entry ? entry.ciphertext.length : entry.commit.length);
  }

  /** Somebody began a new generation. */
  async founded(entry: NoticeBody<"DeliverFounding">): Promise<void> {
    const { membership, recovery, rejoiner, reader, health, goOn, comeBack } = this.#parts;
    const { sequence, epoch, founding: { generation } } = entry;
    if (!reader.rises(sequence)) return;
    const hash = foundingHash({ channelId: membership.channelId, ...entry.founding });
    // We are in it already, and read the log again.
    if (epoch < membership.epoch) return reader.founded({ sequence, epoch, hash, own: false });
    const followed = await recovery.follow(entry);
    if (followed === "forged") return; // something else stands there, or nothing yet
    if (followed === "refused") {
      this.#foreign = Math.min(generation, this.#foreign ?? generation);
      return reader.passForeign(sequence);
    }
    if (!("behind" in followed)) {
      await this.entered(followed);
      return goOn();
    }
    recovery.clear();
    rejoiner.stop();
    rejoiner.done();
    health.report("rejoined", `The channel was begun anew, and this agent asks to be let in: ${followed.behind}`);
    comeBack({ reason: followed.behind, generation });
  }

  /** Nothing is sent in the new generation before the connection has shown that our store is as new as what we did. */
  async settle(): Promise<void> {
    const begun = await this.#parts.recovery.settle();
    if (begun !== undefined) await this.entered(begun);
  }

  /** Our group is in the new generation; nothing else has run since. */
  async entered(begun: Begun): Promise<void> {
    const { rejoiner, committer, reader, progress, caretaker } = this.#parts;
    rejoiner.stop();
    rejoiner.done();
    committer.forget();
    reader.founded(begun);
    this.forgetForeign();
    await progress.flush();
    caretaker.start();
  }
}
