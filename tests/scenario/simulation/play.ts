/**
 * One schedule while it runs: its players, its wire, what really happened, and the moves' common
 * steps.
 */
import type { AgentId, NoticeEnvelope, TokenGrant } from "../../../proto/mod.ts";
import type { Entry } from "../../../relay/engine/mod.ts";
import { type Channel, StaticError } from "../../../sdk/mod.ts";
import { createRandom, type Random } from "../../support/mod.ts";
import { inviteGuest } from "../../support/scenario/guests.ts";
import { name } from "../../support/scenario/stage.ts";
import type { Signatures } from "../../../sdk/testing/agents.ts";
import { Player } from "./player.ts";
import { Issuing } from "./issuing.ts";
import { Ledger } from "./ledger.ts";
import { LogRecord } from "./log_record.ts";
import { type LogFollower, SimulatedStage } from "./stage.ts";
import { Truth } from "./truth.ts";
import { Wills } from "./wills.ts";
import { SimulatedWire } from "./wire.ts";

/** Simulated hours are full of looks otherwise, and nothing else. */
export const badgesEveryMs = 2_000;

export interface Cast {
  /** The first one founds the channel and stays. */
  readonly honest: readonly string[];
  readonly hostile: readonly string[];
  /** Honest, not in the channel at first. */
  readonly outside: readonly string[];
  /** Honest, and in the channel with passes that a member has given them. */
  readonly guests?: readonly string[];
  /** The founder makes the first hostile one an owner. */
  readonly hostileOwner?: boolean;
  /** The channel requires a badge of everybody. */
  readonly badges?: boolean;
}

/** A message that a hostile member sealed as a member and has not sent. */
export interface Stashed {
  readonly sender: Player;
  readonly text: string;
  readonly body: {
    readonly channelId: NoticeOf<"DeliverMessage">["channelId"];
    readonly epoch: number;
    readonly messageId: NoticeOf<"DeliverMessage">["messageId"];
    readonly ciphertext: Uint8Array;
  };
}

type NoticeOf<Name extends NoticeEnvelope["operation"]> = Extract<
  NoticeEnvelope,
  { operation: Name }
>["body"];

/** A player is in no channel any more. */
export function isGone(error: unknown): boolean {
  return error instanceof StaticError && error.code === "not_found";
}

/** Everything that nobody in the channel knows as a whole. */
interface Known {
  readonly truth: Truth;
  readonly log: LogRecord;
  readonly wills: Wills;
  readonly ledger: Ledger;
}

export class Play implements LogFollower {
  readonly stage: SimulatedStage;
  readonly wire: SimulatedWire;
  /** Messages of a thief, which uses a copy of the victim's directory. */
  readonly stolen: { readonly text: string; readonly victim: Player }[] = [];
  readonly stash: Stashed[] = [];
  /** How often a guest with another key than its pass was refused to let somebody in. */
  guestRefusals = 0;
  readonly trace: string[] = [];
  /** Leaves that honest players had once, for those that lie about them. */
  readonly oldLeaves: {
    readonly agentId: string;
    readonly leafIndex: number;
    readonly leafNode: Uint8Array;
  }[] = [];
  /** Something happened after which honest members ask to rejoin, though nobody lies. */
  hasLostState = false;
  /** A member made a commit that stops others. */
  hasBadCommit = false;
  /** Honest members may be thrown out and stopped then; what they are told is still true. */
  readonly hostileOwner: boolean;
  /** Of the badges that the channel requires, if it does. */
  readonly issuing: Issuing | undefined;
  /** Agents whose leave is void, as a member was told: an owner has to remove them. */
  readonly voidLeaves = new Set<string>();
  /** The relay has lost the end of its log. */
  wasSetBack = false;
  /** The moment from which there is a copy of the relay's disk. */
  kept: number | undefined;
  #known: Known | undefined;
  readonly #players: Player[];
  #channelId: Channel["id"] | undefined;

  private constructor(stage: SimulatedStage, cast: Cast) {
    this.stage = stage;
    this.hostileOwner = cast.hostileOwner === true;
    this.issuing = cast.badges === true ? new Issuing(() => this.nowMs) : undefined;
    this.wire = new SimulatedWire(() => this.truth, () => this.ledger, stage.world.time.nowMs);
    const { honest, hostile, outside, guests = [] } = cast;
    this.#players = [
      ...honest.map((label) => this.#player(label, true)),
      ...hostile.map((label) => this.#player(label, false)),
      ...outside.map((label) => this.#player(label, true)),
      ...guests.map((label) => this.#player(label, true)),
    ];
    for (const player of this.#players) player.comesAsGuest = guests.includes(player.label);
  }

  static async open(seed: number, cast: Cast, signatures: Signatures): Promise<Play> {
    const stage = await SimulatedStage.open(createRandom(seed), signatures);
    const play = new Play(stage, cast);
    const [founder] = play.players;
    if (founder === undefined) throw new Error("a cast has a founder");
    await stage.finish("the founder has started", founder.actor.start());
    play.#known = play.#beginLedger(founder.agentId);
    founder.actor.session.tampering = founder.tampering;
    for (const each of play.players.slice(1)) {
      await stage.finish(`${each.label} has started`, each.start(play.truth));
    }
    // Half of them take requests without post-quantum keys, which else nobody has to look into.
    const postQuantum = seed % 2 === 0 ? "require" : "prefer";
    const making = founder.actor.manager.create(name, { postQuantum });
    await stage.finish("the channel is founded", making);
    await stage.finish("the founder is in", founder.enter(play.truth));
    play.#channelId = founder.channel?.id;
    stage.followLog(play.channelId, play);
    if (play.issuing !== undefined && founder.channel !== undefined) {
      const requiring = founder.channel.setIssuers(play.issuing.listed);
      await stage.finish("badges are required", requiring);
    }
    const guests = play.players.slice(1, cast.honest.length + cast.hostile.length);
    for (const guest of guests) {
      await stage.finish(`${guest.label} has joined`, play.join(guest, founder));
    }
    for (const guest of play.players.filter(({ comesAsGuest }) => comesAsGuest)) {
      await stage.finish(
        `${guest.label} uses its pass`,
        guest.actor.useKey({ account: 1, grant: play.#pass() }),
      );
      await stage.finish(`${guest.label} has joined`, play.join(guest, founder));
    }
    await stage.world.time.advance(100);
    const [hostile] = play.inside({ honest: false });
    if (play.hostileOwner && hostile !== undefined) {
      await stage.finish("a hostile owner is appointed", play.appoint([founder, hostile]));
    }
    return play;
  }

  #player(label: string, honest: boolean): Player {
    const player = new Player(this.stage, label, { honest, wire: this.wire });
    const { issuing } = this;
    if (issuing !== undefined) {
      player.actor.badges = (agentId) => issuing.of(label, agentId);
      player.actor.badgesEveryMs = badgesEveryMs;
    }
    return player;
  }

  /** The rights of a guest: in this channel, and without adding anybody. */
  #pass(): TokenGrant {
    return { key: null, scopes: [{ channelId: this.channelId, allow: ["send", "receive"] }] };
  }

  get players(): readonly Player[] {
    return this.#players;
  }

  /** How many agents were invented in this schedule. */
  invented = 0;

  /** A hostile agent more, with a program of its own. */
  async invent(): Promise<Player> {
    const player = this.#player(`sybil-${++this.invented}`, false);
    await this.stage.finish(`${player.label} has started`, player.start(this.truth));
    this.#players.push(player);
    return player;
  }

  #beginLedger(founder: AgentId): Known {
    const log = new LogRecord(founder);
    const epochNow = (): number => Math.max(log.epoch, ...this.players.map(({ epoch }) => epoch));
    const wills = new Wills(epochNow);
    const ledger = new Ledger({
      wills,
      log,
      players: () => this.players,
      isLiedTo: (player) => this.wire.liedTo.has(player),
      hasLies: () => this.wire.counts.lies > 0,
      wasSetBack: () => this.wasSetBack,
      hostileOwner: this.hostileOwner,
    });
    return { truth: new Truth(founder), log, wills, ledger };
  }

  appended(entry: Entry): void {
    const { ledger, log, truth } = this.#all;
    ledger.appended(entry);
    log.appended(entry);
    truth.appended(entry);
  }

  /** The relay's log begins anew. */
  restart(): void {
    const { wills, log, truth } = this.#all;
    if (this.wasSetBack) wills.setBack();
    log.restart();
    truth.restart();
  }

  get #all(): Known {
    if (this.#known === undefined) throw new Error("nothing has happened yet");
    return this.#known;
  }

  get truth(): Truth {
    return this.#all.truth;
  }

  get wills(): Wills {
    return this.#all.wills;
  }

  get ledger(): Ledger {
    return this.#all.ledger;
  }

  get channelId(): Channel["id"] {
    if (this.#channelId === undefined) throw new Error("there is no channel yet");
    return this.#channelId;
  }

  get nowMs(): number {
    return this.stage.world.time.nowMs();
  }

  get founder(): Player {
    const [founder] = this.players;
    if (founder === undefined) throw new Error("a cast has a founder");
    return founder;
  }

  /** Players that believe to be in the channel. */
  inside(filter: { readonly honest?: boolean } = {}): Player[] {
    return this.players.filter((each) =>
      each.isIn && (filter.honest ?? each.honest) === each.honest
    );
  }

  async join(guest: Player, inviter: Player): Promise<void> {
    this.wills.invites(inviter.agentId, guest.agentId);
    const { actor } = inviter;
    const token = guest.comesAsGuest ? await inviteGuest(actor) : await actor.manager.invite(name);
    await guest.actor.manager.joinWithToken(name, token, { timeoutMs: 30_000 });
    await guest.enter(this.truth);
  }

  /** The player's application removes a member. */
  async remove({ agentId, channel }: Player, target: AgentId): Promise<void> {
    if (channel !== undefined) {
      await this.wills.during(agentId, "remove", [target], channel.removeMember(target));
    }
  }

  async leave(player: Player): Promise<void> {
    await this.wills.during(player.agentId, "leave", [player.agentId], player.leave(this.truth));
  }

  async recover({ agentId, channel }: Player): Promise<void> {
    if (channel === undefined) return;
    // Its people know whom they invited: of those that came in through the hostile one they leave
    // out its friends.
    const isHostile = (each: AgentId): boolean =>
      this.players.some((player) => player.agentId === each && !player.honest);
    const preview = await channel.previewRecovery().catch(() => undefined);
    const without = (preview?.leftOut ?? []).map((member) => member.agentId).filter(isHostile);
    await this.wills.during(agentId, "recover", without, channel.recover({ without }));
  }

  /** The founder makes these the owners, as far as they are members. */
  async appoint(players: readonly Player[]): Promise<void> {
    const inside = await this.founder.actor.inside();
    const owners = players.map(({ agentId }) => agentId);
    const present = (): typeof owners =>
      owners.filter((agentId) => inside.memberOf(agentId) !== undefined);
    const call = inside.commit(() => ({ owners: present() }));
    await this.wills.during(this.founder.agentId, "owners", owners, call);
  }

  /** All connections break, something happens to the relay, and they are made anew. */
  async withoutRelay(act: () => Promise<void>): Promise<void> {
    const online = this.players.filter(({ actor }) => actor.session.state.kind === "online");
    for (const { actor } of online) actor.session.disconnect();
    await act();
    for (const { actor } of online) this.background("connecting", actor.session.connect());
  }

  /** Goes on by itself; that it fails under attack proves nothing. */
  background(what: string, task: Promise<unknown>): void {
    task.catch((error: unknown) =>
      this.note(`${what} failed: ${error instanceof Error ? error.message : error}`)
    );
  }

  note(text: string): void {
    this.trace.push(`${this.nowMs - this.#startMs} ${text}`);
  }

  readonly #startMs = Date.UTC(2026, 0, 1);

  pick<T>(random: Random, items: readonly T[]): T | undefined {
    return items.length === 0 ? undefined : random.pick(items);
  }

  async close(): Promise<void> {
    for (const player of this.players) {
      await this.stage.finish(`${player.label} has stopped`, player.stop());
    }
    await this.stage.close();
  }
}
