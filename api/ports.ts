/** A port that is taken, told with the variable that names another. */

export class PortTaken extends Error {
  override readonly name = "PortTaken";
}

/** Runs `listen`; when the address is in use, says which port and which variable. */
export async function naming<Listener>(
  { port, variable }: { readonly port: number; readonly variable: string },
  listen: () => Listener | Promise<Listener>,
): Promise<Listener> {
  try {
    return await listen();
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, "code") !== "EADDRINUSE") throw error;
    throw new PortTaken(
      `Cannot listen: port ${port} is taken. Stop what uses it, or set ${variable} to another port`,
      { cause: error },
    );
  }
}
