/**
 * The ledger of a schedule: who asked for what an honest agent does, who made the members that one
 * sees, and one order of everything. An agent whose relay tells it the truth sees the log as it is.
 * Of one that the relay lies to less is promised: nobody vanishes for it without a reason, and
 * nothing is done by it that nobody asked for.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { type AgentId, type CallName, type RequestBody, samePolicy } from "../../../proto/mod.ts";
import { decodeCommitBody, decodeFoundingBody } from "../../../relay/core/testing/world.ts";
import type { Entry } from "../../../relay/engine/mod.ts";
import type { Channel } from "../../../sdk/mod.ts";
import type { LogRecord } from "./log_record.ts";
import type { Player, Shown } from "./player.ts";
import type { Wills } from "./wills.ts";

type Commit = Pick<
  RequestBody<"SendCommit">,
  "epoch" | "added" | "removed" | "commit" | "state" | "nextState"
>;
type Policy = ReturnType<Channel["policy"]>;

export interface LedgerParts {
  readonly wills: Wills;
  readonly log: LogRecord;
  readonly players: () => readonly Player[];
  /** The relay has told this player what is not so. */
  readonly isLiedTo: (player: Player) => boolean;
  readonly hasLies: () => boolean;
  readonly wasSetBack: () => boolean;
  readonly hostileOwner: boolean;
}

export class Ledger {
  readonly #parts: LedgerParts;
  /**
   * When each commit was first seen, by its hash: it may be sent and logged several times, and is
   * judged then.
   */
  readonly #judged = new Map<string, number>();
  /** Every removal that somebody asked for, by the epoch that it ended. */
  readonly #removals: { readonly agentId: AgentId; readonly epoch: number }[] = [];
  /** Policies that owners have asked for; at first everybody may do everything. */
  readonly #policies: Policy[] = [{ admission: "members", posting: "members" }];
  readonly #policyOf = new Map<number, Policy>();
  /** The place of each message that a reader in step with the log was shown. */
  readonly #places = new Map<string, number>();
  /** The first thing that nobody asked for. */
  failure: string | undefined;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
  }

  /** An owner's application wants this policy. */
  wantsPolicy(policy: Policy): void {
    this.#policies.push(policy);
  }

  /** An owner's application makes a guest a member like the others. */
  releases(player: Player): void {
    player.guestSince = Infinity;
  }

  /** A player's agent calls the relay, whether or not the relay takes it. */
  called(by: Player, operation: CallName, body: unknown): void {
    const { wills, log } = this.#parts;
    if (operation === "RequestRejoin") wills.states(by.agentId, "comes back");
    if (operation === "LeaveChannel") {
      const isAsked = !by.honest || wills.wantsToGo(by.agentId);
      if (!isAsked) this.#fail(`${by.label} leaves in epoch ${log.epoch}, and nobody asked it to`);
      wills.states(by.agentId, "leaves");
    }
    if (operation !== "SendCommit") return;
    const { author, ...commit } = body as RequestBody<"SendCommit">; // cast: of this operation
    // One that is put back was judged when its author sent it.
    if (author !== undefined) return;
    if (by.honest) this.#judge(by.agentId, commit);
    else this.#noteShown(by.agentId, commit);
  }

  /** The relay's log grows by this entry; the record of the log does not have it yet. */
  appended(entry: Entry): void {
    const { wills, log } = this.#parts;
    if (entry.kind === "message" && entry.epoch !== log.epoch) {
      this.#fail(`the relay takes a message of epoch ${entry.epoch} in epoch ${log.epoch}`);
    }
    if (entry.kind === "commit") {
      const commit = decodeCommitBody(entry);
      const at = this.#judge(entry.sender, commit);
      this.#judgeOwners(entry.sender, commit);
      this.#judgeGuest(entry.sender, commit);
      this.#noteGuests(entry.sender, commit);
      for (const agentId of commit.added) wills.arrived(agentId, commit.epoch, at);
    }
    if (entry.kind === "founding") {
      this.#judgeFounding(entry.sender, entry.epoch, decodeFoundingBody(entry));
    }
  }

  /** Compares what an honest player sees with what was asked for, and with the log. */
  look(player: Player): void {
    const { channel, label, seen } = player;
    if (channel === undefined || this.#parts.hostileOwner) return;
    const { epoch } = channel.health();
    const members = new Set(channel.members().map(({ agentId }) => agentId));
    player.seen = { epoch, members };
    for (const agentId of seen?.members ?? []) {
      if (seen === undefined || members.has(agentId) || this.#isGone(agentId, seen.epoch, epoch)) {
        continue;
      }
      this.#fail(
        `${label} had ${
          this.#label(agentId)
        } in epoch ${seen.epoch}, has it no more in epoch ${epoch}, and nobody asked for that`,
      );
    }
    if (!this.#isInTruth(player)) return;
    this.#compareMembers(player, epoch, members);
    this.#compareGuests(player, epoch, channel);
    this.#comparePolicy(player, epoch, channel.policy());
  }

  /**
   * Returns why a message should not have been shown at this place, if so. `before`: the place of
   * the message before it.
   */
  shown(player: Player, { text, id, sender, sequence }: Shown, before: number): string | undefined {
    const { log } = this.#parts;
    if (!this.#isInTruth(player)) return undefined;
    const place = log.placeOf(id, sequence);
    if (place === undefined || place.sender !== sender) return "that the log does not hold";
    if (place.sequence !== sequence) {
      return `at place ${sequence}, and the log has it at ${place.sequence}`;
    }
    if (sequence < before) return `at place ${sequence}, after a message at ${before}`;
    const known = this.#places.get(text) ?? sequence;
    if (known !== sequence) return `at place ${sequence}, and another member at ${known}`;
    this.#places.set(text, sequence);
    const group = log.group(place.epoch);
    if (group?.members.has(sender) !== true) {
      return `of an agent that was no member in epoch ${place.epoch}`;
    }
    const isSilent = this.#policyOf.get(place.epoch)?.posting === "owners" &&
      !group.owners.includes(sender);
    return isSilent ? `of a member that may only listen in epoch ${place.epoch}` : undefined;
  }

  /** It follows the log as it is: the relay has neither lied to it nor lost entries. */
  #isInTruth(player: Player): boolean {
    const { isLiedTo, wasSetBack, hostileOwner } = this.#parts;
    return !isLiedTo(player) && !wasSetBack() && !hostileOwner;
  }

  #compareMembers({ label }: Player, epoch: number, members: ReadonlySet<AgentId>): void {
    const logged = this.#parts.log.group(epoch)?.members;
    if (logged === undefined) {
      return this.#fail(`${label} is in epoch ${epoch}, and the log has none`);
    }
    const differing = [...logged].filter((each) => !members.has(each)).concat(
      [...members].filter((each) => !logged.has(each)),
    );
    if (differing.length === 0) return;
    const names = differing.map((agentId) => this.#label(agentId)).join(" and ");
    this.#fail(
      `${label} sees other members in epoch ${epoch} than the log has: it differs in ${names}`,
    );
  }

  /** A member that came by a guest link is a guest, until an owner says otherwise. */
  #compareGuests({ label }: Player, epoch: number, channel: Channel): void {
    for (const { agentId, guest, absent } of channel.members()) {
      const player = this.#player(agentId);
      const since = player?.guestSince ?? Infinity;
      if (epoch >= since && !guest) {
        this.#fail(`${label} sees ${player?.label} as no guest in epoch ${epoch}`);
      }
      if (guest && !absent && player?.comesAsGuest !== true) {
        this.#fail(
          `${label} sees ${player?.label} as a guest in epoch ${epoch}, and it came by no guest link`,
        );
      }
    }
  }

  #comparePolicy({ label }: Player, epoch: number, policy: Policy): void {
    const told = JSON.stringify(policy);
    if (!this.#policies.some((each) => samePolicy(each, policy))) {
      this.#fail(`${label} has the policy ${told} in epoch ${epoch}, which no owner asked for`);
    }
    const known = this.#policyOf.get(epoch) ?? policy;
    if (!samePolicy(known, policy)) {
      this.#fail(`${label} has another policy in epoch ${epoch} than others: ${told}`);
    }
    this.#policyOf.set(epoch, known);
  }

  #isGone(agentId: AgentId, before: number, after: number): boolean {
    const { log, hasLies, wasSetBack } = this.#parts;
    const isRemoved = this.#removals.some((each) =>
      each.agentId === agentId && (wasSetBack() || (each.epoch >= before && each.epoch < after))
    );
    if (isRemoved) return true;
    // It was added by a commit that a lying relay has kept for itself, or that the log has lost.
    return (hasLies() || wasSetBack()) && log.group(after)?.members.has(agentId) !== true;
  }

  /**
   * A lying relay may show a hostile member's commit to others and never log it: they follow
   * removals that are asked for.
   */
  #noteShown(sender: AgentId, commit: Commit): void {
    const { wills } = this.#parts;
    wills.made(commit, wills.now());
    this.#noteRemovals(sender, commit);
  }

  /** Returns when it was first seen. */
  #judge(sender: AgentId, made: Commit): number {
    const { commit, epoch, added, removed } = made;
    const { wills } = this.#parts;
    const key = sha256(commit).toHex();
    const known = this.#judged.get(key);
    if (known !== undefined) return known;
    const at = wills.now();
    this.#judged.set(key, at);
    wills.made(made, at);
    const story = (what: string, agentId: AgentId): string =>
      `${this.#label(sender)} ${what} ${
        this.#label(agentId)
      } in epoch ${epoch}, and nobody asked for that`;
    for (const agentId of this.#noteRemovals(sender, made)) this.#fail(story("removes", agentId));
    for (const agentId of added) {
      if (removed.includes(agentId)) continue;
      if (!this.#mayAdd(sender, agentId, made)) this.#fail(story("adds", agentId));
    }
    return at;
  }

  /** Returns the removals that nobody asked for. */
  #noteRemovals(sender: AgentId, commit: Commit): AgentId[] {
    const asked = commit.removed.filter((agentId) => this.#mayRemove(sender, agentId, commit));
    for (const agentId of asked) this.#removals.push({ agentId, epoch: commit.epoch });
    return commit.removed.filter((agentId) => !asked.includes(agentId));
  }

  #mayRemove(sender: AgentId, agentId: AgentId, commit: Commit): boolean {
    const { wills } = this.#parts;
    if (wills.hasStated(agentId, "leaves", commit)) return true;
    if (!commit.added.includes(agentId)) {
      return wills.has(sender, "remove", { ...commit, about: agentId });
    }
    return wills.hasStated(agentId, "comes back", commit) ||
      this.#isInvited(sender, agentId, commit);
  }

  #mayAdd(sender: AgentId, agentId: AgentId, commit: Commit): boolean {
    const by = this.#player(sender);
    // Hostile members let in whom they like, as far as the policy lets them.
    if (by?.honest !== true) return this.#mayAdmit(sender, commit.epoch);
    return this.#isInvited(sender, agentId, commit) ||
      this.#parts.wills.hasStated(agentId, "comes back", commit);
  }

  #mayAdmit(sender: AgentId, epoch: number): boolean {
    const owners = this.#parts.log.group(epoch)?.owners ?? [sender];
    return this.#policyOf.get(epoch)?.admission !== "owners" || owners.includes(sender);
  }

  #isInvited(sender: AgentId, about: AgentId, { epoch, state }: Commit): boolean {
    const { wills } = this.#parts;
    return wills.has(sender, "add", { about, epoch }) ||
      wills.has(sender, "invite", { about, epoch, state });
  }

  /** The relay takes no addition with a guest pass, and members follow none of a guest. */
  #judgeGuest(sender: AgentId, { epoch, added, removed }: Commit): void {
    const guest = this.#player(sender);
    const newcomers = added.filter((agentId) => !removed.includes(agentId));
    if (guest === undefined || newcomers.length === 0) return;
    const isGuest = guest.guestSince !== undefined && epoch >= guest.guestSince &&
      this.#isInTruth(guest);
    if (!guest.hasPass && !isGuest) return;
    const names = newcomers.map((agentId) => this.#label(agentId)).join(" and ");
    this.#fail(`${guest.label} is a guest, and adds ${names} in epoch ${epoch}`);
  }

  /**
   * An agent that comes by a guest link is a guest from the next epoch on. An owner is none, and
   * one that was added by hand.
   */
  #noteGuests(sender: AgentId, { epoch, added, owners }: RequestBody<"SendCommit">): void {
    const { log, wills } = this.#parts;
    const members = log.group()?.members;
    for (const player of this.#parts.players()) {
      const { agentId: about } = player;
      if (!player.comesAsGuest || player.guestSince === Infinity) continue;
      if (added.includes(about) && members?.has(about) !== true) {
        player.guestSince = wills.has(sender, "add", { about, epoch }) ? undefined : epoch + 1;
      }
      if (owners?.agentIds.includes(about) === true) player.guestSince = undefined;
    }
  }

  /** Owners change by an owner's call, and when one of them goes. */
  #judgeOwners(
    sender: AgentId,
    { epoch, owners, added, removed }: RequestBody<"SendCommit">,
  ): void {
    const { log, wills, wasSetBack } = this.#parts;
    if (owners === undefined || wasSetBack() || this.#player(sender)?.honest !== true) return;
    const before = log.group(epoch)?.owners ?? [];
    const staying = before.filter((agentId) =>
      !removed.includes(agentId) || added.includes(agentId)
    );
    const isAsked = wills.has(sender, "owners", { epoch }) || wills.has(sender, "leave", { epoch });
    // Of one that leaves and comes in again, the leaving counts.
    if (isAsked || owners.agentIds.every((agentId) => staying.includes(agentId))) return;
    this.#fail(
      `${this.#label(sender)} changes the owners in epoch ${epoch}, and nobody asked for that`,
    );
  }

  #judgeFounding(
    sender: AgentId,
    epoch: number,
    { founding }: RequestBody<"FoundGeneration">,
  ): void {
    const { log, wills, hostileOwner } = this.#parts;
    const { members, blamed, baseEpoch } = founding;
    wills.undone({ from: baseEpoch, before: epoch + 1 });
    const founder = this.#player(sender);
    for (const player of this.#parts.players()) {
      const { guestSince = Infinity } = player;
      // Commits after the base are undone.
      if (guestSince !== Infinity && guestSince > baseEpoch) player.guestSince = undefined;
    }
    const base = log.group(baseEpoch)?.members;
    for (const agentId of log.group()?.members ?? []) {
      if (members.includes(agentId)) continue;
      const isLate = base !== undefined && !base.has(agentId);
      // The undeclared removals of a hostile owner are not in the record of the log.
      const isOut = agentId === blamed ||
        wills.has(sender, "recover", { epoch: baseEpoch, about: agentId });
      if (!isOut && !isLate && founder?.honest === true && !hostileOwner) {
        this.#fail(
          `${founder.label} begins anew without ${this.#label(agentId)}, which nobody blames`,
        );
      }
      this.#removals.push({ agentId, epoch });
    }
    if (founder?.honest !== true) return;
    if (!wills.has(sender, "recover", { epoch: baseEpoch })) {
      this.#fail(`${founder.label} begins anew, and nobody asked it to`);
    }
    if (this.#player(blamed)?.honest === true && !hostileOwner) {
      this.#fail(`${founder.label} begins anew without ${this.#label(blamed)}, which is honest`);
    }
  }

  #fail(story: string): void {
    this.failure ??= story;
  }

  #player(agentId: AgentId): Player | undefined {
    return this.#parts.players().find((each) => each.agentId === agentId);
  }

  #label(agentId: AgentId): string {
    return this.#player(agentId)?.label ?? agentId;
  }
}
