/** An attacker that has accounts: agents with good tokens, in the attacker's own process. */
import { TestAgent } from "../relay/agent.ts";
import { openQuic } from "../relay/deno_clients.ts";
import { CallFailed } from "../relay/relay_client.ts";

export interface TenantOrder {
  readonly quicPort: number;
  readonly ca: string;
  readonly tenants: readonly { readonly account: string; readonly token: string }[];
}

/** A new agent of each account, connected. */
export async function connectTenants({ quicPort, ca, tenants }: TenantOrder): Promise<TestAgent[]> {
  const open = (): ReturnType<typeof openQuic> => openQuic(quicPort, ca);
  return await Promise.all(tenants.map(async ({ account, token }) => {
    const client = await open();
    const agent = new TestAgent({ open, origin: `quic://localhost:${quicPort}` }, client, account);
    await agent.authenticate(client, token);
    return agent;
  }));
}

/** How often each code was the answer; `ok` for what was accepted. */
export type Answers = Record<string, number>;

/** Counts what becomes of a call; returns its reply, or undefined when it was refused. */
export async function counted<Reply>(
  answers: Answers,
  call: Promise<Reply>,
): Promise<Reply | undefined> {
  const [code, reply] = await call.then(
    (reply): [string, Reply] => ["ok", reply],
    (error): [string, undefined] => [error instanceof CallFailed ? error.code : "lost", undefined],
  );
  answers[code] = (answers[code] ?? 0) + 1;
  // An attacker that is refused would otherwise spend this machine on its own errors.
  if (code !== "ok") await new Promise((resolve) => setTimeout(resolve, 5)); // wait: a pace
  return reply;
}
