/** Secrets that no model may read, and no tool may send. */
import type { Context } from "../command.ts";
import { findPlace } from "../agent_record.ts";
import { readSettings } from "../service/settings.ts";

export async function modelSecrets(context: Context): Promise<readonly string[]> {
  const { key } = await readSettings(context);
  const link = (await findPlace(context))?.guest?.link;
  // A key of another service is not used, and still not for the model.
  const variables = ["STATIC_API_KEY", "STATIC_PASSPHRASE"].map((name) =>
    context.platform.variable(name)
  );
  return [key?.apiKey, link, ...variables].filter((secret) => secret !== undefined);
}
