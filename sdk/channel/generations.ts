/**
 * How a channel goes from one generation of its group to the next: it stops at a commit that it cannot follow, passes over what
 * it cannot read, follows a founding or refuses it.
 */
import {
  equalBytes,
  foundingEpoch,
  foundingHash,
  generationOf,
  type NoticeBody,
  type NoticeEnvelope,
} from "../../proto/mod.ts";
import { StaticError } from "../base/errors.ts";
import type { Caretaker } from "./caretaker.ts";
import type { Permit } from "./connection/permit.ts";
import type { Begun } from "./following.ts";
import type { HealthLog } from "./health.ts";
import type { Inbox } from "./inbox.ts";
import type { LogReader } from "./log_reader.ts";
import type { Membership } from "./membership.ts";
import type { Progress } from "./progress.ts";
import type { Recovery } from "./recovery.ts";
import type { Rejoiner } from "./rejoin.ts";
import type { Doubt } from "./store_age.ts";

export interface GenerationsParts {
  readonly membership: Membership;
  readonly recovery: Recovery;
  readonly rejoiner: Rejoiner;
  readonly reader: LogReader;
  readonly progress: Progress;
  readonly caretaker: Caretaker;
  readonly inbox: Inbox;
  readonly health: HealthLog;
  /** Nothing is sent from here on. */
  readonly suspend: () => void;
  /** Everything in front of the commit at which we are stopped is here, or we are not stopped any more. */
  readonly allArrived: () => void;
  readonly isAllHere: () => boolean;
  /** Reads the log from where we are, and goes on then. */
  readonly fetchAgain: () => void;
  /** Nothing more is read before there is a permit. */
  readonly hold: () => void;
  /** The channel works again, if that is still the permit of the present connection. */
  readonly goOn: (permit: Permit) => void;
  /** Our group is of no use any more: join anew. */
  readonly comeBack: (doubt: Doubt) => void;
}

export class Generations {
  readonly #parts: GenerationsParts;
  /** The latest generation about which this agent could not tell, and asks. */
  #asked = 0;

  constructor(parts: GenerationsParts) {
    this.#parts = parts;
  }

  /** A commit that its sender signed and that we cannot follow. Everything stays as it is until an owner founds anew. */
  async stopAt(commit: NoticeBody<"DeliverCommit">, reason: string): Promise<void> {
    const { membership, recovery, allArrived, caretaker, comeBack, suspend } = this.#parts;
    const bad = membership.badCommitOf(commit, reason);
    if (bad === undefined) return comeBack({ reason });
    allArrived();
    await recovery.stop(bad);
    suspend();
    caretaker.stop();
    this.askWhenRead();
  }

  /** The log does not hold the commit any more at which we are stopped: we go on. Returns what to report. */
  async takeBackStop(): Promise<string | undefined> {
    const { recovery, allArrived, rejoiner, caretaker } = this.#parts;
    const problem = await recovery.takeBack();
    if (problem === undefined) return undefined;
    allArrived();
    rejoiner.stop();
    rejoiner.done();
    caretaker.start();
    return `${problem}. The log does not hold that commit any more, as after a restored backup, and the channel ` +
      "goes on without it; an owner may remove its sender";
  }

  /**
   * While we are stopped: we may be the only member that cannot follow, so we ask to be admitted again. A rejoin would
   * lose unread messages, so they are read first.
   */
  askWhenRead(): void {
    const { recovery: { stopped, mayAsk }, isAllHere, reader, inbox, rejoiner } = this.#parts;
    const isRead = isAllHere() && !reader.isPassingOver && inbox.unread === 0;
    if (stopped !== undefined && mayAsk && isRead) rejoiner.start({ reason: stopped.reason });
  }

  /**
   * Returns whether an entry of the log was one to pass over: behind the commit at which we are stopped, or of a generation that
   * we do not follow. None of them is acknowledged as done with: that they stand there is the relay's word.
   */
  async passOver(notice: NoticeEnvelope, permit: Permit | undefined): Promise<boolean> {
    const { recovery, allArrived } = this.#parts;
    const isBehind = recovery.isBehind(notice);
    if (isBehind) {
      allArrived();
      this.askWhenRead();
    }
    if (notice.operation !== "DeliverMessage" && notice.operation !== "DeliverCommit") return isBehind;
    const { body } = notice;
    if (!isBehind && !recovery.isForeign(generationOf(body.epoch))) return false;
    if (isBehind && "ciphertext" in body) recovery.passOver(body.sequence);
    // Everything before the commit has been delivered: now a founding of ours that the relay took before a crash may be
    // entered.
    if (body.sequence === recovery.stopped?.sequence && permit !== undefined) {
      await this.settle(permit).catch(unlessRefused);
    }
    return true;
  }

  /** Somebody began a new generation. */
  async founded(entry: NoticeBody<"DeliverFounding">, permit: Permit | undefined): Promise<void> {
    const { membership, recovery, allArrived, rejoiner, reader, health, goOn, comeBack } = this.#parts;
    const { sequence, founding: { generation } } = entry;
    if (!reader.rises(sequence)) return;
    if (generation <= generationOf(membership.epoch)) return this.#foundedBefore(entry);
    // With a doubt about the log a stopped member reads on. A founding is entered on a connection that has compared the store.
    if (permit === undefined) return this.#parts.hold();
    const followed = await recovery.follow(entry, permit);
    if (followed === "forged") return; // something else stands there, or nothing yet
    if (followed === "ahead") {
      allArrived();
      return this.#askAhead(generation);
    }
    if (followed !== "refused" && !("behind" in followed)) {
      await this.entered(followed);
      return goOn(permit);
    }
    allArrived();
    if (followed !== "refused") recovery.clear();
    else if (recovery.stopped === undefined) return;
    rejoiner.stop();
    rejoiner.done();
    if (followed === "refused") return;
    health.report("rejoined", `The channel was begun anew, and this agent asks to be let in: ${followed.behind}`);
    comeBack({ reason: followed.behind, generation });
  }

  /**
   * A generation that may be genuine, which cannot be told from where we are stopped. The relay alone says that it is there, so
   * we stay stopped, and ask anew: if its log is in that generation, its answer names it, and a member shows how it came to be.
   */
  #askAhead(generation: number): void {
    const { recovery, rejoiner, health } = this.#parts;
    if (!recovery.mayAsk) return;
    // It comes again with each connection.
    if (generation > this.#asked) {
      this.#asked = generation;
      const text = "The channel was begun anew on an epoch that this agent never reached; it asks to be let in";
      health.report("rejoined", text);
      rejoiner.stop();
      rejoiner.done();
    }
    this.askWhenRead();
  }

  /** We are in it already, or in a later one, and read the log again. */
  #foundedBefore({ sequence, epoch, founding }: NoticeBody<"DeliverFounding">): void {
    const { membership: { channelId, group }, reader, health } = this.#parts;
    const hash = foundingHash({ channelId, ...founding });
    const present = group.binding.generation;
    const isOurs = founding.generation !== present?.generation || equalBytes(hash, present.founding);
    if (isOurs && epoch === foundingEpoch(founding.generation)) {
      return reader.founded({ sequence, epoch });
    }
    const text =
      "The relay delivered a false beginning of a new generation: it is not the generation that this agent is in";
    health.report("relay_lied", text);
  }

  /**
   * A founding of ours from before a crash. Nothing is sent in the new generation before the connection has shown that our store
   * is as new as what we did, and before what was unread is here.
   */
  async settle(permit: Permit): Promise<void> {
    const { recovery, allArrived } = this.#parts;
    allArrived();
    const begun = await recovery.settle(permit);
    if (begun !== undefined) await this.begin(begun);
    else this.askWhenRead();
  }

  /** A generation of ours. Entries from before it may still be under way: they are none of it. */
  async begin(begun: Begun): Promise<void> {
    await this.entered(begun);
    this.#parts.fetchAgain();
  }

  /** Our group is in the new generation; nothing else has run since. */
  async entered(begun: Begun): Promise<void> {
    const { rejoiner, recovery, allArrived, reader, progress, caretaker } = this.#parts;
    allArrived();
    rejoiner.stop();
    rejoiner.done();
    reader.founded(begun);
    recovery.forgetForeign();
    await progress.flush();
    caretaker.start();
  }
}

/** Of a call that the next connection makes again. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof StaticError)) throw error;
}
