/** One schedule while it runs: its players, its wire, what really happened, and the moves' common steps. */
import type { NoticeEnvelope } from "../../../proto/mod.ts";
import { type Channel, StaticError } from "../../../sdk/mod.ts";
import { createRandom, type Random } from "../../support/mod.ts";
import { name } from "../../support/scenario/stage.ts";
import type { Signatures } from "../../../sdk/testing/agents.ts";
import { Player } from "./player.ts";
import { SimulatedStage } from "./stage.ts";
import { Truth } from "./truth.ts";
import { SimulatedWire } from "./wire.ts";

export interface Cast {
  /** The first one founds the channel and stays. */
  readonly honest: readonly string[];
  readonly hostile: readonly string[];
  /** Honest, not in the channel at first. */
  readonly outside: readonly string[];
  /** The founder makes the first hostile one an owner. */
  readonly hostileOwner?: boolean;
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

type NoticeOf<Name extends NoticeEnvelope["operation"]> = Extract<NoticeEnvelope, { operation: Name }>["body"];

/** A player is in no channel any more. */
export function isGone(error: unknown): boolean {
  return error instanceof StaticError && error.code === "not_found";
}

export class Play {
  readonly stage: SimulatedStage;
  readonly wire: SimulatedWire;
  readonly players: readonly Player[];
  readonly stash: Stashed[] = [];
  readonly trace: string[] = [];
  /** Leaves that honest players had once, for those that lie about them. */
  readonly oldLeaves: { readonly agentId: string; readonly leafIndex: number; readonly leafNode: Uint8Array }[] = [];
  /** Something happened after which honest members ask to rejoin, though nobody lies. */
  hasLostState = false;
  /** A member made a commit that stops others. */
  hasBadCommit = false;
  /** Honest members may be thrown out and stopped then; what they are told is still true. */
  readonly hostileOwner: boolean;
  /** Agents whose leave is void, as a member was told: an owner has to remove them. */
  readonly voidLeaves = new Set<string>();
  /** The relay has lost the end of its log. */
  wasSetBack = false;
  /** The moment from which there is a copy of the relay's disk. */
  kept: number | undefined;
  #truth: Truth | undefined;
  #channelId: Channel["id"] | undefined;

  private constructor(stage: SimulatedStage, cast: Cast) {
    this.stage = stage;
    this.hostileOwner = cast.hostileOwner === true;
    this.wire = new SimulatedWire(() => this.truth, stage.world.time.nowMs);
    const player = (label: string, honest: boolean): Player => new Player(stage, label, { honest, wire: this.wire });
    this.players = [
      ...cast.honest.map((label) => player(label, true)),
      ...cast.hostile.map((label) => player(label, false)),
      ...cast.outside.map((label) => player(label, true)),
    ];
  }

  static async open(seed: number, cast: Cast, signatures: Signatures): Promise<Play> {
    const stage = await SimulatedStage.open(createRandom(seed), signatures);
    const play = new Play(stage, cast);
    const [founder] = play.players;
    if (founder === undefined) throw new Error("a cast has a founder");
    await stage.finish("the founder has started", founder.actor.start());
    play.#truth = new Truth(founder.agentId);
    founder.actor.session.tampering = founder.tampering;
    for (const each of play.players.slice(1)) await stage.finish(`${each.label} has started`, each.start(play.truth));
    await stage.finish("the channel is founded", founder.actor.manager.create(name));
    await stage.finish("the founder is in", founder.enter(play.truth));
    play.#channelId = founder.channel?.id;
    stage.followLog(play.channelId, play.truth);
    const guests = play.players.slice(1, cast.honest.length + cast.hostile.length);
    for (const guest of guests) await stage.finish(`${guest.label} has joined`, play.join(guest, founder));
    await stage.world.time.advance(100);
    const [hostile] = play.inside({ honest: false });
    if (play.hostileOwner && hostile !== undefined) {
      await stage.finish("a hostile owner is appointed", play.appoint([founder, hostile]));
    }
    return play;
  }

  get truth(): Truth {
    if (this.#truth === undefined) throw new Error("nothing has happened yet");
    return this.#truth;
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
    return this.players.filter((each) => each.isIn && (filter.honest ?? each.honest) === each.honest);
  }

  async join(guest: Player, inviter: Player): Promise<void> {
    const token = await inviter.actor.manager.invite(name);
    await guest.actor.manager.joinWithToken(name, token, { timeoutMs: 30_000 });
    await guest.enter(this.truth);
  }

  /** The founder makes these the owners, as far as they are members. */
  async appoint(players: readonly Player[]): Promise<void> {
    const { committer, membership } = await this.founder.actor.live();
    const owners = players.map(({ agentId }) => agentId);
    const present = (): typeof owners => owners.filter((agentId) => membership.memberOf(agentId) !== undefined);
    await committer.commit(() => ({ change: { owners: present() } }));
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
    task.catch((error: unknown) => this.note(`${what} failed: ${error instanceof Error ? error.message : error}`));
  }

  note(text: string): void {
    this.trace.push(`${this.nowMs - this.#startMs} ${text}`);
  }

  readonly #startMs = Date.UTC(2026, 0, 1);

  pick<T>(random: Random, items: readonly T[]): T | undefined {
    return items.length === 0 ? undefined : random.pick(items);
  }

  async close(): Promise<void> {
    for (const player of this.players) await this.stage.finish(`${player.label} has stopped`, player.stop());
    await this.stage.close();
  }
}
