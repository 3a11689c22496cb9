/** Names of domains, in the one form in which badges, lists of issuers and addresses have them. */

const [minDomainLength, maxDomainLength] = [3, 253];
/** The last label begins with a letter: programs take a name that ends in a number for an address. */
const form = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Whether it is a domain in lower case, of two labels or more, and no address. International names
 * are in their form of ASCII, `xn--…`.
 */
export function isDomain(text: string): boolean {
  return text.length >= minDomainLength && text.length <= maxDomainLength && form.test(text);
}
