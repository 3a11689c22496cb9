/** The call is wrong, said to the model that made it. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

export function refused(text: string): Refusal {
  return new Refusal(text);
}
