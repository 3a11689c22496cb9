/**
 * An agent with an API key as its service knows it: the badge of its account, which it gets by
 * itself, and the keys by which it knows other agents of that account. A service that issues no
 * badges, or none by this key, changes nothing else.
 *
 * The keys come over the connection to the API, which says what is an account anyway. They vouch
 * for accounts only: whatever domain the service calls itself, no agent is shown as one of that
 * domain because of them.
 */
import {
  accountOf,
  type AgentId,
  type Badge,
  equalBytes,
  formatIssuerDocument,
  type IssuerDocument,
  parseBadges,
  parseIssuerDocument,
  type ReaderAccount,
  verifyBadge,
} from "../../proto/mod.ts";
import { isCode } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import type { AgentService } from "../session/service.ts";
import { decodeFields, encodeFields, type RecordStore } from "../store/mod.ts";

export interface ServiceBadgeParts {
  readonly store: Pick<RecordStore, "get" | "put">;
  readonly service: Pick<
    AgentService,
    "apiUrl" | "keyPrefix" | "readIssuer" | "askBadge" | "badgedAgents"
  >;
  readonly agentId: AgentId;
  readonly runtime: Pick<Runtime, "nowMs">;
}

const [kind, id] = ["service", "badge"] as const;
const [hourMs, dayMs] = [3_600_000, 86_400_000];
/** In the record, in the place of a badge or a document. */
const none = "";

interface HeldBadge {
  readonly badge: Badge;
  readonly text: string;
}

interface HeldIssuer {
  readonly document: IssuerDocument;
  /** When the document was read, by the local clock. */
  readonly readMs: number;
}

export class ServiceBadge {
  /** Between two looks whether the badge or the document has to be renewed. */
  readonly everyMs = hourMs;
  readonly #parts: ServiceBadgeParts;
  #held: HeldBadge | undefined;
  #issuer: HeldIssuer | undefined;
  #own: ReaderAccount | undefined;
  #loading: Promise<void> | undefined;
  #renewing: Promise<void> | undefined;
  /** Agents that the account gave a badge, as far as this agent has asked. */
  #badged: ReadonlySet<AgentId> = new Set();

  constructor(parts: ServiceBadgeParts) {
    this.#parts = parts;
  }

  /** The badge to show, as text. Never rejects. */
  async read(): Promise<string | undefined> {
    this.#renewing ??= this.#renew().finally(() => this.#renewing = undefined);
    await this.#renewing;
    return this.#held?.text;
  }

  /**
   * Undefined until the service has said which account this agent belongs to. The same value as
   * long as nothing changes: verdicts about others are kept with it.
   */
  ownAccount(): ReaderAccount | undefined {
    return this.#own;
  }

  #accountNow(): ReaderAccount | undefined {
    const [badge, issuer] = [this.#held?.badge, this.#issuer?.document];
    if (badge === undefined || issuer === undefined || !isIssuedBy(badge, issuer)) return undefined;
    const account = accountOf(badge);
    if (account === undefined) return undefined;
    return { account, issuer: { domain: issuer.domain, keys: issuer.keys.map(({ key }) => key) } };
  }

  /**
   * Returns those of these agents that the account has given no badge; nobody when that cannot be
   * told now. Asks only for agents that it does not know yet. Never rejects.
   */
  async strangersAmong(agentIds: readonly AgentId[]): Promise<readonly AgentId[]> {
    const isUnknown = (agentId: AgentId): boolean => !this.#badged.has(agentId);
    if (!agentIds.some(isUnknown)) return [];
    const badged = await orUndefined(this.#parts.service.badgedAgents());
    if (badged === undefined) return [];
    this.#badged = badged;
    return agentIds.filter(isUnknown);
  }

  async #renew(): Promise<void> {
    this.#loading ??= this.#load();
    await this.#loading;
    const before = [this.#held, this.#issuer];
    const nowMs = this.#parts.runtime.nowMs();
    const isAged = this.#issuer === undefined || Math.abs(nowMs - this.#issuer.readMs) > dayMs;
    await Promise.all([
      isAged ? this.#readIssuer() : undefined,
      this.#held === undefined || isDue(this.#held.badge, nowMs) ? this.#askBadge() : undefined,
    ]);
    const [held, issuer] = [this.#held, this.#issuer];
    // The service has changed its keys in a hurry: one of the two is too old.
    if (held !== undefined && issuer !== undefined && !isIssuedBy(held.badge, issuer.document)) {
      if (held === before[0]) await this.#askBadge();
      else await this.#readIssuer();
    }
    if (before[0] !== this.#held || before[1] !== this.#issuer) {
      this.#own = this.#accountNow();
      await this.#keep();
    }
  }

  async #readIssuer(): Promise<void> {
    const { service, runtime } = this.#parts;
    try {
      this.#issuer = { document: await service.readIssuer(), readMs: runtime.nowMs() };
    } catch (error) {
      if (isCode(error, "not_found")) this.#issuer = undefined;
    }
  }

  async #askBadge(): Promise<void> {
    const { service, agentId } = this.#parts;
    const text = await orUndefined(service.askBadge(agentId));
    if (text !== undefined) this.#held = heldBadge(text, agentId) ?? this.#held;
  }

  async #load(): Promise<void> {
    const { store, service, agentId } = this.#parts;
    const stored = await store.get(kind, id);
    if (stored === undefined) return;
    const fields = decodeFields(stored, kind);
    // Another service or another key, perhaps of another account.
    if (fields.text(0) !== service.apiUrl || fields.text(1) !== service.keyPrefix) return;
    this.#held = heldBadge(fields.text(2), agentId);
    const document = issuerOf(fields.text(3));
    this.#issuer = document && { document, readMs: fields.number(4) };
    this.#own = this.#accountNow();
  }

  async #keep(): Promise<void> {
    const { store, service } = this.#parts;
    const { document, readMs = 0 } = this.#issuer ?? {};
    const fields = [
      service.apiUrl,
      service.keyPrefix ?? none,
      this.#held?.text ?? none,
      document === undefined ? none : formatIssuerDocument(document),
      readMs,
    ];
    // A disk that takes no more ends the agent elsewhere.
    await orUndefined(store.put(kind, id, encodeFields(fields)));
  }
}

/** Undefined for text that is no badge of this agent. */
function heldBadge(text: string, agentId: AgentId): HeldBadge | undefined {
  try {
    const [badge, more] = parseBadges(text);
    const isOurs = badge?.agentId === agentId && more === undefined && verifyBadge(badge);
    return badge !== undefined && isOurs ? { badge, text } : undefined;
  } catch {
    return undefined; // something else answers at this address
  }
}

function issuerOf(text: string): IssuerDocument | undefined {
  try {
    return parseIssuerDocument(text, String(JSON.parse(text).domain));
  } catch {
    return undefined; // none was kept
  }
}

function isIssuedBy({ domain, issuerKey }: Badge, document: IssuerDocument): boolean {
  return domain === document.domain &&
    document.keys.some(({ key }) => equalBytes(key, issuerKey));
}

/** With a quarter of its time left. A clock that is wrong costs a question an hour. */
function isDue({ notBefore, notAfter }: Badge, nowMs: number): boolean {
  return notAfter - nowMs / 1000 < (notAfter - notBefore) / 4;
}

async function orUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch {
    return undefined;
  }
}
