/**
 * Things that all tests of a run share, in the folder that the test command names
 * (`STATIC_TEST_RUN`) and removes.
 */

/**
 * The path of the thing, which the first to ask makes while all others wait. Undefined outside of
 * the test command, where each test makes its own.
 */
export async function oncePerRun(
  name: string,
  make: (path: string) => Promise<unknown>,
): Promise<string | undefined> {
  const folder = Deno.env.get("STATIC_TEST_RUN");
  if (folder === undefined) return undefined;
  const path = `${folder}/${name}`;
  using lock = await Deno.open(`${path}.lock`, { create: true, write: true });
  await lock.lock(true);
  if (await exists(path)) return path;
  // Under another name until it is whole: the test that makes it may be ended.
  const making = `${path}.${crypto.randomUUID()}`;
  await make(making);
  await Deno.rename(making, path);
  return path;
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
