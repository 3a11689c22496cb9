/**
 * The health checking protocol of gRPC, for load balancers that speak nothing else. It says what
 * `GET /ready` says.
 */
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { Relay } from "../../../proto/wire/grpc.ts";
import { Health, Status } from "./descriptors.ts";

export interface HealthOptions {
  readonly isServing: () => boolean;
  /** Runs once after the time; returns a function to cancel it. */
  readonly after: (ms: number, run: () => void) => () => void;
}

/** How late a watcher may learn of a change. */
const watchMs = 1_000;

export function addHealth(router: ConnectRouter, { isServing, after }: HealthOptions): void {
  const statusOf = (service: string): Status => {
    if (!["", Relay.typeName].includes(service)) return Status.SERVICE_UNKNOWN;
    return isServing() ? Status.SERVING : Status.NOT_SERVING;
  };
  router.rpc(Health.method.check, ({ service }) => {
    const status = statusOf(service);
    if (status !== Status.SERVICE_UNKNOWN) return { status };
    throw new ConnectError(
      `There is no service "${service}"; ask for "${Relay.typeName}"`,
      Code.NotFound,
    );
  });
  router.rpc(
    Health.method.watch,
    async function* ({ service }, { signal }): AsyncGenerator<{ status: Status }> {
      let told: Status | undefined;
      while (!signal.aborted) {
        const status = statusOf(service);
        if (status !== told) yield { status };
        told = status;
        await pause(after, signal);
      }
    },
  );
}

/** Resolves after a while, and at once when nobody watches any more. */
function pause(after: HealthOptions["after"], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = after(watchMs, done);
    signal.addEventListener("abort", done);
  });
}
