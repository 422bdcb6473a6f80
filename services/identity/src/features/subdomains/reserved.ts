/**
 * Names that no organization has: under them people expect the instance itself, its mail or the network, and browsers and
 * mail programs look there by themselves. Own rule; the reference says nothing.
 */
const reserved: ReadonlySet<string> = new Set(
  [
    'about abuse account accounts admin administrator api app assets auth autoconfig autodiscover billing bindery blog',
    'cdn console dashboard dev developer developers dns download email events files ftp graphql health help home',
    'hostmaster imap info internal integrations localhost login logout mail mcp media metrics monitoring mta-sts',
    'news noc oauth openid pop pop3 postmaster preview private proxy public register root saml search security',
    'signin sign-in sign-up signup site sites smtp ssl sso staging static status storage support sys system test uploads',
    'user users webhook webhooks webmail webmaster wpad www',
  ].flatMap((line) => line.split(' ')),
);

/** Other writings of the web itself: www2, ns1, and names that international domain names begin with (RFC 5891 4.2.3.1). */
const reservedForms = /^(?:www|ns|mx)\d+$|^..--/;

/** Whether a name is kept for the instance. */
export const isReservedSubdomain = (name: string): boolean => reserved.has(name) || reservedForms.test(name);
