/**
 * Additions of agents that did not ask, from when they are judged until the engine has them: by
 * account and agent.
 */
import type { AccountId, AgentId } from "../../../proto/mod.ts";

export interface PendingAddition {
  readonly channels: number;
  readonly bytes: number;
}

const nothing: PendingAddition = { channels: 0, bytes: 0 };

export class UnsolicitedAdditions {
  readonly #adding = new Map<string, PendingAddition>();

  of(account: AccountId, agentId: AgentId): PendingAddition {
    return this.#adding.get(`${account} ${agentId}`) ?? nothing;
  }

  /** Until it is disposed of. */
  begin(
    account: AccountId,
    agents: readonly AgentId[],
    bytesOf: ReadonlyMap<AgentId, number>,
  ): Disposable {
    const change = (by: 1 | -1): void => {
      for (const agentId of agents) {
        this.#change(`${account} ${agentId}`, by, by * (bytesOf.get(agentId) ?? 0));
      }
    };
    change(1);
    return { [Symbol.dispose]: () => change(-1) };
  }

  #change(key: string, channels: number, bytes: number): void {
    const before = this.#adding.get(key) ?? nothing;
    const after = { channels: before.channels + channels, bytes: before.bytes + bytes };
    if (after.channels === 0) this.#adding.delete(key);
    else this.#adding.set(key, after);
  }
}
