import ipaddr from 'ipaddr.js';

/** A host name, an address, or a block of addresses that may be reached although it is not public. */
export type AllowEntry =
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'block'; readonly address: ipaddr.IPv4 | ipaddr.IPv6; readonly bits: number };

/**
 * Blocks that the address library calls ordinary and that still lead inside: IPv4-compatible IPv6 (`::127.0.0.1`), local
 * NAT64, old site-local addresses, and a cloud provider's platform address.
 */
const alsoInside: readonly (readonly [ipaddr.IPv4 | ipaddr.IPv6, number])[] = [
  '::/96',
  '64:ff9b:1::/48',
  'fec0::/10',
  '168.63.129.16/32',
].map((block) => ipaddr.parseCIDR(block));

/**
 * Reads one entry of the allow list: `files.internal`, `10.1.2.3`, `fd00::1`, `10.0.0.0/8`.
 * @throws Error when it is none of these
 */
export const parseAllowEntry = (entry: string): AllowEntry => {
  const text = entry.trim().toLowerCase();
  if (text.includes('/')) {
    if (!ipaddr.isValidCIDR(text)) throw new Error(`fetch allow list: ${entry} is not a block of addresses`);
    const [address, bits] = ipaddr.parseCIDR(text);
    return { kind: 'block', address, bits };
  }
  if (ipaddr.isValid(text)) {
    const address = ipaddr.parse(text);
    return { kind: 'block', address, bits: address.kind() === 'ipv4' ? 32 : 128 };
  }
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(text)) throw new Error(`fetch allow list: ${entry} is not a host name`);
  return { kind: 'host', host: text };
};

const within = (address: ipaddr.IPv4 | ipaddr.IPv6, block: ipaddr.IPv4 | ipaddr.IPv6, bits: number): boolean =>
  address.kind() === block.kind() && address.match(block, bits);

/**
 * Whether a connection to this address may be made: it is public, or on the allow list. Decided on the number, so that
 * the spelling does not matter; IPv6 forms that carry an IPv4 address inside are judged by that or refused.
 */
export const mayConnect = (address: string, allow: readonly AllowEntry[]): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (allow.some((entry) => entry.kind === 'block' && within(parsed, entry.address, entry.bits))) return true;
  if (parsed.range() !== 'unicast') return false;
  return !alsoInside.some(([block, bits]) => within(parsed, block, bits));
};
