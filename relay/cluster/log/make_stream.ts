/**
 * The streams of a cluster carry its draft (`proto/base/draft.ts`) in their metadata: nothing is
 * written to those of another.
 */
import type { StreamConfig } from "@nats-io/jetstream";
import { drafts, otherDraftText } from "../../../proto/mod.ts";
import { EngineError } from "../../engine/mod.ts";
import type { Nodes } from "../nodes/nodes.ts";
import { patiently } from "../nodes/retry.ts";

const draftKey = "static_draft";

/**
 * Makes a stream unless it is there, and returns what it is like. Throws `unsupported_version` for
 * one of another draft.
 */
export async function makeStream(
  nodes: Pick<Nodes, "manager">,
  config: Partial<StreamConfig> & Pick<StreamConfig, "name">,
): Promise<StreamConfig> {
  const draft = String(drafts.clusterLog);
  const { config: found } = await patiently(async () => {
    const { streams } = nodes.manager;
    return await streams.info(config.name).catch(() => undefined) ??
      await streams.add({ ...config, metadata: { [draftKey]: draft } });
  });
  if (found.metadata?.[draftKey] === draft) return found;
  const what = `the stream ${config.name} of the cluster`;
  throw new EngineError(
    "unsupported_version",
    otherDraftText(what, "Choose another STATIC_RELAY_CLUSTER"),
  );
}
