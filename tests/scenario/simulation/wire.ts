/**
 * The wire between the players and the relay's core. A rule changes what passes: those of the
 * relay's side are lifted when the schedule calms down, those of a modified client stay.
 */
import {
  type AgentId,
  type CallName,
  equalBytes,
  type NoticeEnvelope,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import type { Ledger } from "./ledger.ts";
import type { Forward, Player, Shown, Wire } from "./player.ts";
import type { Truth } from "./truth.ts";

/** Each function answers undefined for what it does not concern. */
export interface Rule {
  /** How often it still applies. */
  uses: number;
  readonly untilMs?: number;
  readonly notice?: (notice: NoticeEnvelope) => readonly NoticeEnvelope[] | undefined;
  readonly call?: (
    operation: CallName,
    body: unknown,
    forward: Forward,
  ) => Promise<unknown> | undefined;
}

type Side = "relay" | "client";

/** Calls of honest players that mean that something is wrong with their state. */
export interface Counts {
  rejoins: number;
  lies: number;
}

export class SimulatedWire implements Wire {
  /** Everything that the relay delivered truly. */
  readonly history: { readonly player: Player; readonly notice: NoticeEnvelope }[] = [];
  readonly counts: Counts = { rejoins: 0, lies: 0 };
  /** Players to which the relay has said what is not so, or kept something back. */
  readonly liedTo = new Set<Player>();
  /** Commits that players have sent, whether or not the relay took them. */
  readonly sent = new Map<Player, RequestBody<"SendCommit">[]>();
  readonly #rules = { relay: new Map<Player, Rule[]>(), client: new Map<Player, Rule[]>() };
  /** Disturbances of a player's calls by an honest relay and network. */
  readonly #disturbed = new Map<Player, (forward: Forward) => Promise<unknown> | undefined>();
  readonly #removals: {
    readonly by: Player;
    readonly sequence: number;
    readonly removed: readonly AgentId[];
  }[] = [];
  readonly #truth: () => Truth;
  readonly #ledger: () => Ledger;
  readonly #nowMs: () => number;

  constructor(truth: () => Truth, ledger: () => Ledger, nowMs: () => number) {
    this.#truth = truth;
    this.#ledger = ledger;
    this.#nowMs = nowMs;
  }

  add(side: Side, player: Player, rule: Rule): void {
    const rules = this.#rules[side].get(player) ?? [];
    rules.push(rule);
    this.#rules[side].set(player, rules);
  }

  /**
   * The function is asked for each of the player's calls, and answers undefined for those that it
   * leaves alone.
   */
  disturb(player: Player, act: (forward: Forward) => Promise<unknown> | undefined): void {
    this.#disturbed.set(player, act);
  }

  /** The relay is honest from now on, and so is the network. */
  calm(): void {
    this.#rules.relay.clear();
    this.#disturbed.clear();
  }

  /** The relay says what is not so. */
  inject(player: Player, notice: NoticeEnvelope): void {
    this.#lies(player);
    this.show(player.actor.session, player, notice);
  }

  /** Gives a player what the relay has kept back for a while. Its session may be gone by now. */
  show(session: Player["actor"]["session"], player: Player, notice: NoticeEnvelope): void {
    this.#noteRemoval(player, notice);
    session.inject(notice);
  }

  /**
   * Whether a player has seen a removal before this place of the log. Of a commit of its own it
   * knows the place: what stands before it was sent before it, as far as that player can tell.
   */
  hasReadRemoval(player: Player, agentId: AgentId, sequence: number): boolean {
    const own = this.#removals.findLast((removal) =>
      removal.by === player && removal.removed.includes(agentId)
    );
    if (own !== undefined) return sequence > own.sequence;
    return this.history.some((each) =>
      each.player === player && each.notice.operation === "DeliverCommit" &&
      each.notice.body.removed.includes(agentId)
    );
  }

  /**
   * A removal that an owner or an honest member made is true to the one that it removes, whether or
   * not the log holds it.
   */
  #noteRemoval(player: Player, { operation, body }: NoticeEnvelope): void {
    if (operation !== "DeliverCommit" || !body.removed.includes(player.agentId)) return;
    const isTrue = [...this.sent].some(([by, commits]) =>
      (by.honest || this.#truth().wasOwner(by.agentId)) &&
      commits.some(({ commit }) => equalBytes(commit, body.commit))
    );
    if (isTrue) player.removedIn = body.epoch;
  }

  judge(player: Player, shown: Shown, before: number): string | undefined {
    return this.#ledger().shown(player, shown, before);
  }

  notice(player: Player, notice: NoticeEnvelope): readonly NoticeEnvelope[] {
    this.history.push({ player, notice });
    const told = this.#first("relay", player, (rule) => rule.notice?.(notice)) ?? [notice];
    for (const each of told) this.#noteRemoval(player, each);
    return told.flatMap((each) =>
      this.#first("client", player, (rule) => rule.notice?.(each)) ?? [each]
    );
  }

  call(player: Player, operation: CallName, body: unknown, forward: Forward): Promise<unknown> {
    if (operation === "RequestRejoin" && player.honest) this.counts.rejoins++;
    this.#ledger().called(player, operation, body);
    if (operation === "SendCommit") {
      const commits = this.sent.get(player) ?? [];
      commits.push(body as RequestBody<"SendCommit">); // cast: of this operation
      this.sent.set(player, commits);
    }
    const real = async (changed: unknown = body): Promise<unknown> => {
      // cast: tampering keeps the shape of the operation
      const commit = operation === "SendCommit" ? changed as RequestBody<"SendCommit"> : undefined;
      if (commit !== undefined) this.#truth().asked(player.agentId, commit);
      const reply = await forward(changed);
      if (commit !== undefined) {
        const { sequence } = reply as ReplyBody<"SendCommit">; // cast: of this operation
        this.#removals.push({ by: player, sequence, removed: commit.removed });
      }
      return reply;
    };
    const near = (changed: unknown): Promise<unknown> =>
      this.#disturbed.get(player)?.(() => real(changed)) ?? real(changed);
    const relay = (changed: unknown = body): Promise<unknown> =>
      this.#first(
        "relay",
        player,
        (rule) => rule.call?.(operation, changed, (again = changed) => near(again)),
      ) ??
        near(changed);
    return this.#first("client", player, (rule) => rule.call?.(operation, body, relay)) ?? relay();
  }

  #lies(player: Player): void {
    this.counts.lies++;
    this.liedTo.add(player);
  }

  /** The result of the first rule that it concerns. */
  #first<T>(side: Side, player: Player, apply: (rule: Rule) => T | undefined): T | undefined {
    for (const rule of this.#rules[side].get(player) ?? []) {
      if (rule.uses === 0 || (rule.untilMs !== undefined && rule.untilMs < this.#nowMs())) continue;
      const result = apply(rule);
      if (result === undefined) continue;
      rule.uses--;
      if (side === "relay") this.#lies(player);
      return result;
    }
    return undefined;
  }
}
