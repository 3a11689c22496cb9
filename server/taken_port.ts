/** A port that is taken, told with the variable that names another. */

export class PortTaken extends Error {
  override readonly name = "PortTaken";
}

/** Runs `listen`; when an address is in use, says which port and which variable. */
export async function naming<Server>(
  portOf: (error: Error) => { readonly port: number; readonly variable: string },
  listen: () => Server | Promise<Server>,
): Promise<Server> {
  try {
    return await listen();
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, "code") !== "EADDRINUSE") throw error;
    const { port, variable } = portOf(error);
    throw new PortTaken(
      `Cannot listen: port ${port} is taken. Stop what uses it, or set ${variable} to another port`,
      { cause: error },
    );
  }
}
