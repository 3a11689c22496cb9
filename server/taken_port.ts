/** Ports that are taken, told with the variables that name others. */
import { StartFailed } from "./start_failed.ts";

export interface ConfiguredPort {
  readonly port: number;
  /** Chooses another one. */
  readonly variable: string;
}

export class PortTaken extends StartFailed {
  override readonly name = "PortTaken";

  constructor(taken: readonly ConfiguredPort[], options?: ErrorOptions) {
    const lines = taken.map(({ port, variable }) =>
      `Cannot listen: port ${port} is taken. Stop what uses it, or set ${variable} to another port`
    );
    super(lines.join("\n"), options);
  }
}

/**
 * Runs `listen`. Throws `PortTaken` when an address is in use; `portOf` tells from the error which
 * one.
 */
export async function naming<Listener>(
  portOf: ConfiguredPort | ((error: Error) => ConfiguredPort),
  listen: () => Listener | Promise<Listener>,
): Promise<Listener> {
  try {
    return await listen();
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, "code") !== "EADDRINUSE") throw error;
    throw new PortTaken([typeof portOf === "function" ? portOf(error) : portOf], { cause: error });
  }
}
