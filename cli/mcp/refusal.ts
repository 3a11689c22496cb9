/** The call is wrong, said to the model that made it. */
export class ToolRefusal extends Error {
  override readonly name = "ToolRefusal";
}

export function refused(text: string): ToolRefusal {
  return new ToolRefusal(text);
}
