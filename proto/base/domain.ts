/** Names of domains, in the one form in which badges, lists of issuers and addresses have them. */

const [minDomainLength, maxDomainLength] = [3, 253];
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Programs take a name that ends so for an IPv4 address, whatever stands before. */
const numeric = /^(?:\d+|0x[\da-f]*)$/;

/**
 * Whether it is a domain in lower case, of two labels or more, and no address. International names
 * are in their form of ASCII, `xn--…`.
 */
export function isDomain(text: string): boolean {
  if (text.length < minDomainLength || text.length > maxDomainLength) return false;
  const labels = text.split(".");
  return labels.length > 1 && labels.every((each) => label.test(each)) &&
    !numeric.test(labels.at(-1) ?? "");
}
