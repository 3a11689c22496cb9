/** Cells over gRPC: as one `Session` stream, or up one by one and down as a stream. */
import { createClient, type Transport } from "@connectrpc/connect";
import { Relay } from "../../proto/wire/grpc.ts";
import type { CellCarrier } from "../support/relay/cell_client.ts";
import { toCallFailed } from "../support/relay/typed_client.ts";

export function sessionCarrier(transport: Transport): CellCarrier {
  const abort = new AbortController();
  const outbox: { cell: Uint8Array<ArrayBuffer>; taken: () => void }[] = [];
  let wake = (): void => {};
  async function* requests(): AsyncGenerator<{ cell: Uint8Array<ArrayBuffer> }> {
    while (!abort.signal.aborted) {
      const next = outbox.shift();
      if (next === undefined) {
        await new Promise<void>((resolve) => wake = resolve);
      } else {
        yield { cell: next.cell };
        next.taken();
      }
    }
  }
  const { chunks, closeCode } = readCells(
    createClient(Relay, transport).session(requests(), { signal: abort.signal }),
  );
  return {
    chunks,
    closeCode,
    write: (cells, cellBytes) =>
      new Promise((resolve) => {
        for (let at = 0; at < cells.length; at += cellBytes) {
          const last = at + cellBytes === cells.length;
          outbox.push({ cell: cells.slice(at, at + cellBytes), taken: last ? resolve : () => {} });
        }
        wake();
      }),
    close: () => {
      abort.abort();
      wake();
    },
  };
}

export function upDownCarrier(transport: Transport): CellCarrier {
  const client = createClient(Relay, transport);
  const link = crypto.getRandomValues(new Uint8Array(32));
  const abort = new AbortController();
  let index = 0n;
  const { chunks, closeCode } = readCells(client.cellDown({ link }, { signal: abort.signal }));
  return {
    chunks,
    closeCode,
    write: async (cells, cellBytes) => {
      const sent: Promise<unknown>[] = [];
      for (let at = 0; at < cells.length; at += cellBytes) {
        index++;
        sent.push(client.cellUp({ link, index, cell: cells.slice(at, at + cellBytes) }));
      }
      await Promise.all(sent);
    },
    close: () => abort.abort(),
  };
}

function readCells(
  responses: AsyncIterable<{ readonly cell: Uint8Array }>,
): { chunks: AsyncIterable<Uint8Array>; closeCode: () => Promise<string | undefined> } {
  let code: string | undefined;
  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for await (const { cell } of responses) yield cell;
    } catch (error) {
      code = toCallFailed(error).code;
    }
  }
  return { chunks: read(), closeCode: () => Promise.resolve(code) };
}
