/**
 * The invites that this agent has given out. The relay knows an invite's id and counts its uses; whether somebody is let in is
 * decided by what is written here, on our own disk, where every admission is noted before the commit that makes it true.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type AgentId,
  type ChannelId,
  type ChannelName,
  equalBytes,
  formatInviteToken,
  type InviteId,
  inviteIdOf,
  joinMac,
  limits,
  type NoticeBody,
  parseChannelId,
  parseChannelName,
} from "../../proto/mod.ts";
import { createError, type StaticError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import type { RelaySession } from "../session/ports.ts";
import { Serial } from "../serial.ts";
import type { RecordStore } from "../store/mod.ts";
import { decodeFields, encodeFields } from "../stored_fields.ts";

/** How long, and how often, an invite is good. */
export interface InviteOptions {
  /** How long the token is good; one day when not given. */
  readonly expiresInMs?: number;
  /** How many agents may join with it; one when not given. */
  readonly uses?: number;
}

interface InviteRecord {
  readonly channelId: ChannelId;
  readonly name: ChannelName;
  readonly secret: Uint8Array;
  readonly expiresAtMs: number;
  readonly uses: number;
  /** Hashes of the KeyPackages that may come in, in hexadecimal: a request that comes again is no second use. */
  readonly admitted: readonly string[];
  /** Those of them that did come in: a request that comes again is of no use. Who was removed must be invited anew. */
  readonly entered: readonly string[];
}

export interface InviteBookDeps {
  readonly store: Pick<RecordStore, "get" | "put" | "delete" | "list" | "batch">;
  readonly session: Pick<RelaySession, "call">;
  readonly runtime: Pick<Runtime, "randomBytes">;
  readonly agentId: AgentId;
  readonly relayNowMs: () => number;
}

const [kind, version] = ["invites", 1] as const;
const secretBytes = 32;
const dayMs = 24 * 60 * 60 * 1000;
const maxExpiryMs = 365 * dayMs;

type JoinRequest = NoticeBody<"DeliverJoinRequest">;

export class InviteBook {
  readonly #deps: InviteBookDeps;
  /** What is read and written again: an invite that is revoked meanwhile must not come back. */
  readonly #changes = new Serial();

  constructor(deps: InviteBookDeps) {
    this.#deps = deps;
  }

  /** A token for a channel that this agent is in. It is on our disk before anybody can have it. */
  async create(
    channel: { readonly channelId: ChannelId; readonly name: ChannelName },
    { expiresInMs = dayMs, uses = 1 }: InviteOptions,
  ): Promise<string> {
    const { channelId, name } = channel;
    if (!Number.isInteger(uses) || uses < 1 || uses > limits.inviteUses) {
      throw createError("invalid_request", `Cannot invite: uses is a whole number from 1 to ${limits.inviteUses}`);
    }
    if (!(expiresInMs > 0 && expiresInMs <= maxExpiryMs)) {
      throw createError("invalid_request", "Cannot invite: expiresInMs is above 0 and at most a year");
    }
    const secret = this.#deps.runtime.randomBytes(secretBytes);
    const inviteId = inviteIdOf(secret);
    const expiresAtMs = Math.ceil(this.#deps.relayNowMs() + expiresInMs);
    await this.#put(inviteId, { channelId, name, secret, expiresAtMs, uses, admitted: [], entered: [] });
    await this.#deps.session.call("RegisterInvite", { channelId, inviteId, expiresAtMs, uses });
    return formatInviteToken({ channelId, name, inviter: this.#deps.agentId, secret });
  }

  /** Nobody joins with it any more, whatever the relay does. */
  async revoke(inviteId: InviteId): Promise<void> {
    const invite = await this.#get(inviteId);
    if (invite === undefined) return;
    await this.#changes.run(() => this.#deps.store.delete(kind, inviteId));
    await this.#deps.session.call("RevokeInvite", { channelId: invite.channelId, inviteId });
  }

  /** Whether a request is by somebody with the invite's secret and for this very KeyPackage. If so its use is counted. */
  admit(request: JoinRequest): Promise<StaticError | undefined> {
    return this.#changes.run(async () => {
      const { inviteId, channelId, keyPackage, mac } = request;
      const invite = await this.#get(inviteId);
      if (invite === undefined || invite.channelId !== channelId) {
        return createError("join_rejected", "The invite is not known or was revoked; ask for a new one");
      }
      const { name, secret, admitted, entered } = invite;
      const expected = joinMac(secret, { channelId, name, inviter: this.#deps.agentId, keyPackage });
      if (!equalBytes(expected, mac)) {
        return createError(
          "join_rejected",
          "The request was not made with the invite's secret, or was changed on its way",
        );
      }
      if (this.#deps.relayNowMs() > invite.expiresAtMs) {
        return createError("join_rejected", "The invite has expired; ask for a new one");
      }
      const hash = hashOf(request);
      if (entered.includes(hash)) {
        return createError("join_rejected", "The agent came in with this request before; ask for a new invite");
      }
      if (admitted.includes(hash)) return undefined;
      if (admitted.length >= invite.uses) {
        return createError("join_rejected", "The invite has been used as often as it may; ask for a new one");
      }
      await this.#put(inviteId, { ...invite, admitted: [...admitted, hash] });
      return undefined;
    });
  }

  /** Whether this very KeyPackage was admitted before. */
  async hasAdmitted(request: JoinRequest): Promise<boolean> {
    return (await this.#get(request.inviteId))?.admitted.includes(hashOf(request)) ?? false;
  }

  /** They are members now: their requests let nobody in any more. */
  enter(requests: readonly JoinRequest[]): Promise<void> {
    return this.#changes.run(async () => {
      for (const inviteId of new Set(requests.map((request) => request.inviteId))) {
        const invite = await this.#get(inviteId);
        if (invite === undefined) continue;
        const hashes = requests.filter((request) => request.inviteId === inviteId).map(hashOf);
        await this.#put(inviteId, { ...invite, entered: [...new Set([...invite.entered, ...hashes])] });
      }
    });
  }

  /** Deletes what has expired. */
  async tidy(): Promise<void> {
    const now = this.#deps.relayNowMs();
    const expired = (await this.#deps.store.list(kind)).filter(({ value }) => decode(value).expiresAtMs < now - dayMs);
    if (expired.length > 0) {
      await this.#deps.store.batch(expired.map(({ id }) => ({ type: "delete", kind, id })));
    }
  }

  async #get(inviteId: InviteId): Promise<InviteRecord | undefined> {
    const record = await this.#deps.store.get(kind, inviteId);
    return record === undefined ? undefined : decode(record);
  }

  async #put(inviteId: InviteId, invite: InviteRecord): Promise<void> {
    const { channelId, name, secret, expiresAtMs, uses, admitted, entered } = invite;
    const fields = [channelId, name, secret, expiresAtMs, uses, [...admitted], [...entered]];
    await this.#deps.store.put(kind, inviteId, encodeFields(version, fields));
  }
}

function decode(record: Uint8Array): InviteRecord {
  const fields = decodeFields(record, version, kind);
  return {
    channelId: parseChannelId(fields.text(0)),
    name: parseChannelName(fields.text(1)),
    secret: fields.bytes(2),
    expiresAtMs: fields.number(3),
    uses: fields.number(4),
    admitted: fields.list(5).map(String),
    entered: fields.list(6).map(String),
  };
}

function hashOf({ keyPackage }: JoinRequest): string {
  return bytesToHex(sha256(keyPackage));
}
