/**
 * The contract of engines: one suite that every implementation must pass, whatever it is made of.
 */
import type { Engine } from "../engine.ts";
import { channelContract } from "./channel_contract.ts";
import type { ContractTest } from "./contract.ts";
import { keyPackageContract } from "./key_package_contract.ts";
import { leaseContract } from "./lease_contract.ts";
import { logContract } from "./log_contract.ts";
import { queueContract } from "./queue_contract.ts";
import { recordContract } from "./record_contract.ts";
import { roomContract } from "./room_contract.ts";
import { watchContract } from "./watch_contract.ts";

/** An engine without content, and how to be rid of it; called once per test. */
export type OpenEngine = () => Promise<
  { readonly engine: Engine; readonly dispose: () => Promise<void> }
>;

export function testEngine(name: string, open: OpenEngine): void {
  const test: ContractTest = (guarantee, run) => {
    Deno.test(`${name}: ${guarantee}`, async () => {
      const { engine, dispose } = await open();
      try {
        await run(engine);
      } finally {
        await engine.close();
        await dispose();
      }
    });
  };
  channelContract(test);
  logContract(test);
  watchContract(test);
  queueContract(test);
  recordContract(test);
  roomContract(test);
  leaseContract(test);
  keyPackageContract(test);
}
