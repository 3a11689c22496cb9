/** The call is wrong, said to the one who made it. */
export function refused(text: string): Error {
  return Object.assign(new Error(text), { code: "invalid_request" });
}
