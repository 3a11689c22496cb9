/**
 * The operator's port with all that it can do; answers nothing where it is not reachable from this
 * machine alone.
 */
import { isLoopback, loadAdminSecret, type Log, needed } from "../../server/mod.ts";
import type { Config } from "../config.ts";
import { createOperatorFiles } from "../console/mod.ts";
import type { Clock } from "../domain/deps.ts";
import { createRateLimiter } from "../domain/rate_limit.ts";
import type { Store } from "../domain/store.ts";
import { runCommand } from "./commands.ts";
import { type HealthDeps, readHealth } from "./health.ts";
import { createOperatorPage } from "./page.ts";
import { type AdminWay, createAdminPort } from "./port.ts";
import { createRotation } from "./run_admin.ts";
import { readView } from "./views.ts";

export async function createAdmin(
  config: Config,
  deps: HealthDeps & { readonly store: Store; readonly clock: Clock; readonly log: Log },
): Promise<(request: Request) => Promise<Response | undefined>> {
  const { store, clock, log } = deps;
  if (config.admin === undefined || !isLoopback(config.admin.host)) {
    return () => Promise.resolve(undefined);
  }
  const secret = config.adminSecret ??
    await needed(
      "the operator's secret cannot be read (STATIC_DATA_DIR)",
      loadAdminSecret(config.dataDir),
    );
  return createAdminPort({
    secret,
    failures: createRateLimiter("admin", config.rateLimits.failures, clock),
    run: (args, way: AdminWay) =>
      runCommand(args, {
        store,
        act: { atMs: clock(), actor: `admin:${way}` },
        rotate: createRotation(config, clock),
      }),
    view: (query) => readView(query, { store, atMs: clock(), readHealth: () => readHealth(deps) }),
    page: config.console
      ? createOperatorPage(createOperatorFiles())
      : () => Promise.resolve(undefined),
    log,
  });
}
