/**
 * Budgets of addresses, over all connections of each, and of all addresses together. Connections that
 * the application has vouched for are members; all others are strangers, and have much less. An address that goes on above its
 * budget is an offender: its strangers are closed and refused for a while. An IPv6 address is a /64, and the /56 around it has
 * four times as much, whatever number of its networks are used.
 */
import { Bucket, networkOf, networkShare, prefixOf, type Rate, takeOfAll } from "../limits/mod.ts";
import type { Budgets } from "./budgets.ts";
import { FairRate } from "./fair_rate.ts";
import type { Standing } from "./handler.ts";

export interface PeerStats {
  /** Calls of strangers that were answered with 429. */
  readonly refusedCalls: number;
  /** Sockets that were closed before their handshake: too many, too fast, or of an offender. */
  readonly refusedSockets: number;
  /** How often an address became an offender. */
  readonly offences: number;
}

/** In place of the address of a balancer's own connections: clients on its machine have budgets of their own. */
export const balancerAddress = "balancer";

/** Addresses that are remembered; those beyond share one budget. */
const maxAddresses = 100_000;
/** A budget that nobody used for this long is full again, and forgotten. */
const forgetMs = 120_000;

export class PeerBudgets {
  readonly budgets: Budgets;
  readonly now: () => number;
  readonly callsInAll: FairRate;
  readonly checksInAll: FairRate;
  readonly resetsInAll: FairRate;
  readonly #peers = new Map<string, PeerBudget>();
  readonly #networks = new Map<string, NetworkBudget>();
  /** Calls of strangers under way, and how many addresses or networks they are of. */
  #handlers = 0;
  #busyParties = 0;
  #refusedCalls = 0;
  #refusedSockets = 0;
  #offences = 0;

  /** `lagMs` tells how late the process is: strangers are the first to have less. */
  constructor(budgets: Budgets, now: () => number, lagMs: () => number = () => 0) {
    this.budgets = budgets;
    this.now = now;
    const room = (): number => roomAt(lagMs());
    this.callsInAll = new FairRate(budgets.strangerCallsInAll, now, room);
    this.checksInAll = new FairRate(budgets.checksInAll, now, room);
    this.resetsInAll = new FairRate(budgets.strangerResetsInAll, now, room);
  }

  of(address: string): PeerBudget {
    const key = prefixOf(address);
    const known = this.#peers.get(key);
    if (known !== undefined) return known;
    const shared = this.#peers.size < maxAddresses || key === balancerAddress ? key : "";
    const peer = this.#peers.get(shared) ?? new PeerBudget(shared, this, this.#networkOf(shared && address));
    this.#peers.set(shared, peer);
    return peer;
  }

  #networkOf(address: string): NetworkBudget | undefined {
    const key = networkOf(address);
    if (key === prefixOf(address)) return undefined;
    const network = this.#networks.get(key) ?? new NetworkBudget(key, this);
    this.#networks.set(key, network);
    return network;
  }

  /** False when a new socket of this address must be closed before it costs a handshake. */
  admitsSocket(address: string): boolean {
    const peer = this.of(address);
    return !peer.isOffender && peer.spendSocket();
  }

  socketRefused(): void {
    this.#refusedSockets++;
  }

  /** Returns whether a stranger may start one more call. Above half of the total, strangers get equal parts. */
  hasRoomFor({ handlers, network }: PeerBudget): boolean {
    const { strangerHandlers, strangerHandlersInAll: inAll } = this.budgets;
    if (handlers >= strangerHandlers || this.#handlers >= inAll) return false;
    if (network !== undefined && network.handlers >= networkShare * strangerHandlers) return false;
    const ofParty = network?.handlers ?? handlers;
    return this.#handlers < inAll / 2 || ofParty < Math.max(1, Math.floor(inAll / (this.#busyParties + 1)));
  }

  handlerStarted(peer: PeerBudget): void {
    this.#handlers++;
    peer.handlers++;
    if (peer.network !== undefined) peer.network.handlers++;
    if ((peer.network ?? peer).handlers === 1) this.#busyParties++;
  }

  handlerEnded(peer: PeerBudget): void {
    this.#handlers--;
    peer.handlers--;
    if (peer.network !== undefined) peer.network.handlers--;
    if ((peer.network ?? peer).handlers === 0) this.#busyParties--;
  }

  callRefused(): void {
    this.#refusedCalls++;
  }

  offended(): void {
    this.#offences++;
  }

  stats(): PeerStats {
    return { refusedCalls: this.#refusedCalls, refusedSockets: this.#refusedSockets, offences: this.#offences };
  }

  tick(nowMs: number): void {
    const used = new Set<NetworkBudget>();
    for (const [key, peer] of this.#peers) {
      if (peer.handlers === 0 && nowMs - peer.usedAtMs >= forgetMs) this.#peers.delete(key);
      else if (peer.network !== undefined) used.add(peer.network);
    }
    for (const [key, network] of this.#networks) if (!used.has(network)) this.#networks.delete(key);
  }
}

/** Long before members notice: they are the last to be refused. */
function roomAt(lagMs: number): number {
  if (lagMs < 50) return 1;
  return lagMs < 200 ? 0.25 : 0.1;
}

/** One address. */
export class PeerBudget {
  readonly key: string;
  /** Of IPv6 only. */
  readonly network: NetworkBudget | undefined;
  readonly #all: PeerBudgets;
  /** Its own bucket and, of IPv6, that of its network: of strangers each takes of both or of neither. */
  readonly #sockets: readonly Bucket[];
  readonly #calls: readonly Bucket[];
  readonly #checks: readonly Bucket[];
  readonly #strangerResets: readonly Bucket[];
  readonly #strangerFrames: readonly Bucket[];
  readonly #memberResets: readonly Bucket[];
  /** Calls of its strangers under way, also of streams that are gone. */
  handlers = 0;
  usedAtMs: number;
  #refusedUntilMs = 0;

  constructor(key: string, all: PeerBudgets, network?: NetworkBudget) {
    const { budgets } = all;
    this.key = key;
    this.network = network;
    this.#all = all;
    this.usedAtMs = all.now();
    this.#sockets = withNetwork(budgets.socketsPerAddress, network?.sockets);
    this.#calls = withNetwork(budgets.strangerCalls, network?.calls);
    this.#checks = withNetwork(budgets.checks, network?.checks);
    this.#strangerResets = withNetwork(budgets.strangerResets, network?.strangerResets);
    this.#strangerFrames = withNetwork(budgets.strangerControlFrames, network?.strangerFrames);
    this.#memberResets = withNetwork(budgets.memberResets, undefined);
  }

  get isOffender(): boolean {
    this.usedAtMs = this.#all.now();
    return this.usedAtMs < this.#refusedUntilMs;
  }

  spendSocket(): boolean {
    return this.#spend(this.#sockets);
  }

  /** Returns the status of a call that must be refused. A balancer itself may ask for nothing but health. */
  refusalOf(standing: Standing): 403 | 429 | undefined {
    if (this.#isBalancer && standing !== "check") return 403;
    if (this.#admits(standing)) return undefined;
    this.#all.callRefused();
    return 429;
  }

  #admits(standing: Standing): boolean {
    if (standing === "member") return true;
    if (standing === "check") {
      return this.#spend(this.#checks) && (this.#isBalancer || this.#all.checksInAll.spend(this.#party));
    }
    return !this.isOffender && this.#all.hasRoomFor(this) && this.#spend(this.#calls) &&
      this.#all.callsInAll.spend(this.#party);
  }

  /** Takes no part of what all have: its checks decide whether this process gets clients at all. */
  get #isBalancer(): boolean {
    return this.key === balancerAddress;
  }

  /** Takes its part of what all have: a network has one, not one for each of its addresses. */
  get #party(): string {
    return this.network?.key ?? this.key;
  }

  handlerStarted(): void {
    this.#all.handlerStarted(this);
  }

  handlerEnded(): void {
    this.#all.handlerEnded(this);
  }

  /** False when there were too many. */
  spendReset(isMember: boolean): boolean {
    if (isMember) return this.#spend(this.#memberResets);
    return this.#spend(this.#strangerResets) && this.#all.resetsInAll.spend(this.#party);
  }

  spendFrames(amount: number): boolean {
    return this.#spend(this.#strangerFrames, amount);
  }

  giveBackFrames(amount: number): void {
    for (const bucket of this.#strangerFrames) bucket.giveBack(amount);
  }

  offend(): void {
    if (this.isOffender) return;
    this.#refusedUntilMs = this.usedAtMs + this.#all.budgets.offenderMs;
    this.#all.offended();
  }

  #spend(buckets: readonly Bucket[], amount = 1): boolean {
    return takeOfAll(buckets, this.#all.now(), amount) === undefined;
  }
}

function withNetwork(rate: Rate, ofNetwork: Bucket | undefined): readonly Bucket[] {
  return ofNetwork === undefined ? [new Bucket(rate)] : [new Bucket(rate), ofNetwork];
}

/** A /56 of IPv6: what strangers of all its addresses may cost together. */
class NetworkBudget {
  readonly key: string;
  readonly sockets: Bucket;
  readonly calls: Bucket;
  readonly checks: Bucket;
  readonly strangerResets: Bucket;
  readonly strangerFrames: Bucket;
  handlers = 0;

  constructor(key: string, { budgets }: PeerBudgets) {
    const budget = ({ burst, perSecond }: Rate): Bucket =>
      new Bucket({ burst: networkShare * burst, perSecond: networkShare * perSecond });
    this.key = key;
    this.sockets = budget(budgets.socketsPerAddress);
    this.calls = budget(budgets.strangerCalls);
    this.checks = budget(budgets.checks);
    this.strangerResets = budget(budgets.strangerResets);
    this.strangerFrames = budget(budgets.strangerControlFrames);
  }
}
