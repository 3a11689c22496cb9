/**
 * KeyPackages in memory. No call waits for anything, so any number of parallel claims of one
 * KeyPackage has one winner. Claimed KeyPackages are remembered until they expire, so that an owner
 * who uploads everything again does not bring them back. Agents cost nothing to invent, so memory
 * is bounded per account: an account that uploads too much loses its own oldest pools. When all
 * together take too much, the account that has most gives way, with its KeyPackages of last resort
 * too, and one that has little never.
 */
import { type AccountId, type AgentId, encodeBase64url } from "../../proto/mod.ts";
import type {
  ClaimedKeyPackage,
  KeyPackagePools,
  PoolClaim,
  PoolCount,
  PooledKeyPackage,
  PoolUpload,
} from "./engine.ts";
import { checkCount, checkText } from "./input.ts";

/** Replies that can be repeated, per agent; the oldest are forgotten first. */
const maxRememberedClaims = 1000;
/**
 * When there is too much, so much of the limit is freed at once, because finding the largest
 * account takes a while.
 */
const freedShare = 1 / 64;

interface ClaimAnswer {
  readonly keyPackage: PooledKeyPackage;
  readonly lastResort: boolean;
}

interface Pool {
  /** The account of the last upload. */
  account: AccountId;
  key: string | undefined;
  /** The pool's size, as counted for the account. */
  bytes: number;
  /** KeyPackages by reference; the first uploaded is claimed first. */
  readonly available: Map<string, PooledKeyPackage>;
  lastResort: PooledKeyPackage | undefined;
  /** How many there were after the last upload. */
  filled: number;
  /** References that were given away, and until when they matter. */
  readonly claimed: Map<string, number>;
  /** The answers to claims, by the claim's key. */
  readonly answers: Map<string, ClaimAnswer>;
}

/** The pools of an engine in this process. */
export function createKeyPackagePools(): KeyPackagePools {
  const memory = new KeyPackageMemory();
  const answer = <Result>(work: () => Result): Promise<Result> =>
    new Promise((resolve) => resolve(work()));
  return {
    count: (agentId, nowMs) => answer(() => memory.count(agentId, nowMs)),
    put: (agentId, upload) => answer(() => memory.put(agentId, upload)),
    ownerOf: (agentId) => answer(() => memory.ownerOf(agentId)),
    claim: (agentId, claim) => answer(() => memory.claim(agentId, claim)),
    expire: (nowMs) => answer(() => memory.expire(nowMs)),
  };
}

/** A pool as another process can take it over. */
export interface StoredPool {
  readonly agentId: AgentId;
  readonly account: AccountId;
  readonly key?: string | undefined;
  readonly available: readonly PooledKeyPackage[];
  readonly lastResort?: PooledKeyPackage | undefined;
  readonly filled: number;
  readonly claimed: readonly (readonly [reference: string, untilMs: number])[];
  readonly answers:
    readonly (readonly [claim: string, keyPackage: PooledKeyPackage, lastResort: boolean])[];
}

/**
 * Nothing here depends on anything but the calls and their order: relays that make the same calls
 * have the same pools.
 */
export class KeyPackageMemory {
  readonly #pools = new Map<AgentId, Pool>();
  readonly #memory = new MemoryUse();

  count(agentId: AgentId, nowMs: number): PoolCount {
    return countOf(this.#pools.get(agentId), nowMs);
  }

  put(agentId: AgentId, upload: PoolUpload): PoolCount {
    checkCount("capacity", upload.capacity);
    const pool = this.#pools.get(agentId) ?? createPool(upload.account);
    this.#pools.set(agentId, pool);
    pool.key = upload.key?.id;
    addTo(pool, upload);
    this.#memory.touch(pool, upload.account);
    makeRoom(this.#memory, upload);
    return countOf(pool, upload.nowMs);
  }

  ownerOf(agentId: AgentId): AccountId | undefined {
    return this.#pools.get(agentId)?.account;
  }

  claim(agentId: AgentId, { key, nowMs, share = "any" }: PoolClaim): ClaimedKeyPackage | undefined {
    checkText("claim key", key);
    const pool = this.#pools.get(agentId);
    if (pool === undefined) return undefined;
    const claimed = claimFrom(pool, { key, nowMs, share });
    this.#memory.recount(pool);
    return claimed;
  }

  /** In the order in which `restore` makes the same of them. */
  *dump(): Iterable<StoredPool> {
    const agents = new Map([...this.#pools].map(([agentId, pool]) => [pool, agentId]));
    for (const pool of this.#memory.pools()) {
      const agentId = agents.get(pool);
      if (agentId === undefined) continue;
      const { account, key, lastResort, filled } = pool;
      const answers = [...pool.answers].map(([claim, answer]) =>
        [claim, answer.keyPackage, answer.lastResort] as const
      );
      yield {
        agentId,
        account,
        key,
        available: [...pool.available.values()],
        lastResort,
        filled,
        claimed: [...pool.claimed],
        answers,
      };
    }
  }

  restore(
    { agentId, account, key, available, lastResort, filled, claimed, answers }: StoredPool,
  ): void {
    const pool: Pool = {
      account,
      key,
      bytes: 0,
      available: new Map(available.map((each) => [encodeBase64url(each.reference), each])),
      lastResort,
      filled,
      claimed: new Map(claimed),
      answers: new Map(
        answers.map(([claim, keyPackage, lastResort]) => [claim, { keyPackage, lastResort }]),
      ),
    };
    this.#pools.set(agentId, pool);
    this.#memory.touch(pool, account);
  }

  expire(nowMs: number): void {
    for (const [agentId, pool] of this.#pools) {
      expirePool(pool, nowMs);
      this.#memory.recount(pool);
      if (!isEmpty(pool)) continue;
      this.#pools.delete(agentId);
      this.#memory.forget(pool);
    }
  }
}

interface AccountUse {
  bytes: number;
  /** The longest untouched first. */
  readonly pools: Set<Pool>;
}

/** The size of all pools, and of each account's. */
class MemoryUse {
  #all = 0;
  readonly #accounts = new Map<AccountId, AccountUse>();

  get all(): number {
    return this.#all;
  }

  of(account: AccountId): number {
    return this.#accounts.get(account)?.bytes ?? 0;
  }

  poolsOf(account: AccountId): Iterable<Pool> {
    return this.#accounts.get(account)?.pools ?? [];
  }

  *pools(): Iterable<Pool> {
    for (const { pools } of this.#accounts.values()) yield* pools;
  }

  /** The account with the largest pools. */
  get largest(): AccountId | undefined {
    let largest: AccountId | undefined;
    let most = 0;
    for (const [account, { bytes }] of this.#accounts) {
      if (bytes > most) [largest, most] = [account, bytes];
    }
    return largest;
  }

  /** Makes the pool this account's from now on, and its latest. */
  touch(pool: Pool, account: AccountId): void {
    this.forget(pool);
    pool.account = account;
    const use = this.#accounts.get(account) ?? { bytes: 0, pools: new Set() };
    this.#accounts.set(account, use);
    use.pools.add(pool);
    this.recount(pool);
  }

  recount(pool: Pool): void {
    this.#add(pool, measure(pool) - pool.bytes);
  }

  forget(pool: Pool): void {
    this.#add(pool, -pool.bytes);
    const use = this.#accounts.get(pool.account);
    use?.pools.delete(pool);
    if (use?.pools.size === 0) this.#accounts.delete(pool.account);
  }

  #add(pool: Pool, bytes: number): void {
    pool.bytes += bytes;
    this.#all += bytes;
    const use = this.#accounts.get(pool.account);
    if (use !== undefined) use.bytes += bytes;
  }
}

function measure({ available, lastResort, answers }: Pool): number {
  let bytes = lastResort?.bytes.length ?? 0;
  for (const keyPackage of available.values()) bytes += keyPackage.bytes.length;
  for (const { keyPackage } of answers.values()) bytes += keyPackage.bytes.length;
  return bytes;
}

/** Empties pools until the limits hold; what was claimed stays known. */
function makeRoom(memory: MemoryUse, upload: PoolUpload): void {
  const { account, key, bytesPerAccount, bytesGuaranteed, bytesInAll } = upload;
  if (key !== undefined) makeRoomOfKey(memory, account, key);
  emptyPools(memory, account, () => memory.of(account) > bytesPerAccount);
  if (memory.all <= bytesInAll) return;
  const enough = bytesInAll * (1 - freedShare);
  for (
    let largest = memory.largest;
    largest !== undefined && memory.all > enough;
    largest = memory.largest
  ) {
    // When no account has more than a little, there are too many accounts: the uploading one gives
    // way.
    const isLarge = memory.of(largest) > bytesGuaranteed;
    const victim = isLarge ? largest : account;
    // A victim loses half at most, then another account may have most.
    const rest = isLarge ? Math.max(bytesGuaranteed, memory.of(victim) / 2) : 0;
    const before = memory.all;
    emptyPools(memory, victim, () => memory.all > enough && memory.of(victim) > rest);
    if (memory.all === before) return;
  }
}

/** Uploads of strangers with one key must not push out the pools of the account's own agents. */
function makeRoomOfKey(
  memory: MemoryUse,
  account: AccountId,
  { id, bytes }: NonNullable<PoolUpload["key"]>,
): void {
  let excess = -bytes;
  for (const pool of memory.poolsOf(account)) if (pool.key === id) excess += pool.bytes;
  const before = memory.all;
  emptyPools(memory, account, () => before - memory.all < excess, ({ key }) => key === id);
}

/** The longest untouched first, and KeyPackages of last resort when nothing else is left. */
function emptyPools(
  memory: MemoryUse,
  account: AccountId,
  isNeeded: () => boolean,
  isMeant: (pool: Pool) => boolean = () => true,
): void {
  for (const withLastResort of [false, true]) {
    for (const pool of memory.poolsOf(account)) {
      if (!isNeeded()) return;
      // An account may have many that are empty already.
      if (pool.bytes === 0 || !isMeant(pool)) continue;
      pool.available.clear();
      pool.answers.clear();
      if (withLastResort) pool.lastResort = undefined;
      memory.recount(pool);
    }
  }
}

function createPool(account: AccountId): Pool {
  return {
    account,
    key: undefined,
    bytes: 0,
    available: new Map(),
    lastResort: undefined,
    filled: 0,
    claimed: new Map(),
    answers: new Map(),
  };
}

function isEmpty({ available, lastResort, claimed, answers }: Pool): boolean {
  return available.size === 0 && lastResort === undefined && claimed.size === 0 &&
    answers.size === 0;
}

function addTo(
  pool: Pool,
  { keyPackages, lastResort, replace, capacity, nowMs }: PoolUpload,
): void {
  if (replace) {
    pool.available.clear();
    pool.lastResort = undefined;
  }
  expireAvailable(pool, nowMs);
  for (const keyPackage of keyPackages) {
    if (pool.available.size >= capacity) break;
    const reference = encodeBase64url(keyPackage.reference);
    if (keyPackage.notAfterMs > nowMs && !pool.claimed.has(reference)) {
      pool.available.set(reference, keyPackage);
    }
  }
  pool.filled = pool.available.size;
  if (lastResort === undefined || lastResort.notAfterMs <= nowMs) return;
  // A KeyPackage that was given away for single use may not come back under another name.
  if (!pool.claimed.has(encodeBase64url(lastResort.reference))) pool.lastResort = lastResort;
}

function claimFrom(
  pool: Pool,
  { key, nowMs, share }: Required<PoolClaim>,
): ClaimedKeyPackage | undefined {
  const repeated = pool.answers.get(key);
  const isGood = repeated !== undefined && repeated.keyPackage.notAfterMs > nowMs;
  const answer = isGood ? repeated : takeFrom(pool, nowMs, share);
  if (answer === undefined) return undefined;
  if (answer !== repeated) remember(pool, key, answer);
  return {
    keyPackage: answer.keyPackage.bytes,
    lastResort: answer.lastResort,
    remaining: countOf(pool, nowMs),
  };
}

function takeFrom(
  pool: Pool,
  nowMs: number,
  share: Required<PoolClaim>["share"],
): ClaimAnswer | undefined {
  if (share === "none") return undefined;
  expireAvailable(pool, nowMs);
  const isAllowed = share === "any" || (share === "half" && 2 * pool.available.size > pool.filled);
  for (const [reference, keyPackage] of isAllowed ? pool.available : []) {
    pool.available.delete(reference);
    pool.claimed.set(reference, keyPackage.notAfterMs);
    return { keyPackage, lastResort: false };
  }
  return pool.lastResort && { keyPackage: pool.lastResort, lastResort: true };
}

function remember(pool: Pool, key: string, answer: ClaimAnswer): void {
  pool.answers.delete(key);
  for (const oldest of pool.answers.keys()) {
    if (pool.answers.size < maxRememberedClaims) break;
    pool.answers.delete(oldest);
  }
  pool.answers.set(key, answer);
}

function expireAvailable(pool: Pool, nowMs: number): void {
  for (const [reference, { notAfterMs }] of pool.available) {
    if (notAfterMs <= nowMs) pool.available.delete(reference);
  }
  if (pool.lastResort !== undefined && pool.lastResort.notAfterMs <= nowMs) {
    pool.lastResort = undefined;
  }
}

function expirePool(pool: Pool, nowMs: number): void {
  expireAvailable(pool, nowMs);
  for (const [reference, notAfterMs] of pool.claimed) {
    if (notAfterMs <= nowMs) pool.claimed.delete(reference);
  }
  for (const [key, { keyPackage }] of pool.answers) {
    if (keyPackage.notAfterMs <= nowMs) pool.answers.delete(key);
  }
}

function countOf(pool: Pool | undefined, nowMs: number): PoolCount {
  if (pool === undefined) return { keyPackages: 0, filled: 0, hasLastResort: false };
  const { filled } = pool;
  let keyPackages = 0;
  for (const { notAfterMs } of pool.available.values()) if (notAfterMs > nowMs) keyPackages++;
  const hasLastResort = pool.lastResort !== undefined && pool.lastResort.notAfterMs > nowMs;
  return { keyPackages, filled, hasLastResort };
}
