/** The static table of RFC 7541 Appendix A; index 1 is the first entry. */
import { createField, type Field } from "../field.ts";

const entries = `:authority
:method GET
:method POST
:path /
:path /index.html
:scheme http
:scheme https
:status 200
:status 204
:status 206
:status 304
:status 400
:status 404
:status 500
accept-charset
accept-encoding gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`;

export const staticTable: readonly Field[] = entries.split("\n").map((entry) => {
  const space = entry.indexOf(" ");
  return space < 0
    ? createField(entry, "")
    : createField(entry.slice(0, space), entry.slice(space + 1));
});

export const staticEntries = staticTable.length;

/** Index of the first entry with a name, for literals that name their field by index. */
export const staticNameIndex: ReadonlyMap<string, number> = new Map(
  staticTable.map((field, i): [string, number] => [field.name, i + 1]).reverse(),
);
