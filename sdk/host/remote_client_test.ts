import { assertEquals, assertRejects } from "@std/assert";
import { createError, StaticError } from "../base/errors.ts";
import { HostConnection } from "./connection.ts";
import { encodeFrame, HostFrameReader } from "./frames.ts";
import { RemoteClient } from "./remote_client.ts";
import { encodeError } from "./wire_errors.ts";

const runtime = {
  nowMs: (): number => 0,
  after: (_: number, run: () => void): () => void => {
    queueMicrotask(run);
    return () => {};
  },
  randomBytes: (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length),
};

const given = { channel: "acme/ops/deploy", token: "token" };
const ways = [["joinOrOpen", given], ["joinLink", { link: "static://join/#" }]] as const;
for (const way of ways) {
  Deno.test(`${way[0]} whose host dies does not open another channel of that name at the next host`, () =>
    joins(way));
}

async function joins([way, fields]: typeof ways[number]): Promise<void> {
  const heard: unknown[] = [];
  let hosts = 0;
  const find = (): Promise<HostConnection> => {
    const [host, reader] = [++hosts, new HostFrameReader()];
    const connection = new HostConnection({
      write: (bytes) => {
        for (const { header: { id, op } } of reader.push(bytes)) {
          heard.push(op);
          const taken = {
            error: encodeError(createError("name_taken", "In another channel of that name")),
          };
          queueMicrotask(() => {
            if (op === way && host === 1) {
              connection.end(createError("listener_died", "The host died"));
            } else connection.receive(encodeFrame({ id, ...(op === way ? taken : { ok: {} }) }));
          });
        }
      },
      close: () => {},
    });
    return Promise.resolve(connection);
  };
  const client = await RemoteClient.open({ runtime, find });
  const refused = await assertRejects(() => client.enter(way, fields), StaticError);
  assertEquals([refused.code, heard], ["name_taken", ["agent", way, way]]);
  await client.close();
}
