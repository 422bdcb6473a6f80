import { commaSeparated, optional, required } from '@bindery/service-kit';
import type { SamlSettings } from './features/saml/index.ts';
import { acceptableToken } from './features/tokens/index.ts';
import { mailSettings } from './mail-settings.ts';
import { signInSettings } from './sign-in-settings.ts';

/** Settings of the identity service, read from the environment by the composition root. */
export const identitySettings = {
  ...signInSettings,
  BINDERY_BOOTSTRAP_TOKEN: optional.text({
    description: 'A token that works for the administrator; the first start makes a random one without it.',
    pattern: acceptableToken,
    allowed: '20 to 256 of the characters A-Z a-z 0-9 . _ ~ + / -',
    secret: true,
  }),
  BINDERY_BOOTSTRAP_EMAIL: required.text({
    description: 'Email of the administrator that the first start creates.',
    fallback: 'admin@localhost',
    pattern: /^[^\s@]{1,64}@[^\s@]{1,180}$/,
    allowed: 'an email',
  }),
  BINDERY_BOOTSTRAP_NAME: required.text({
    description: 'Name of the administrator that the first start creates.',
    fallback: 'Administrator',
    pattern: /^[^\p{Cc}]{1,64}$/u,
    allowed: '1 to 64 characters',
  }),
  BINDERY_BOOTSTRAP_ORGANIZATION: required.text({
    description: 'Title of the organization that the first start creates.',
    fallback: 'My organization',
    pattern: /^[^\p{Cc}]{2,255}$/u,
    allowed: '2 to 255 characters',
  }),
  ...mailSettings,
  SAML_PLAIN_HTTP_HOSTS: optional.text({
    description: 'Hosts of SAML identity providers, separated by commas, whose sign-in address may be http.',
    pattern: /^[A-Za-z0-9.:_,[\] -]{1,2000}$/,
    allowed: 'hosts separated by commas',
  }),
  SAML_UNSIGNED_RESPONSES: optional.text({
    description:
      'Entity ids of SAML identity providers, separated by commas, that sign assertions but cannot sign responses as well.',
    pattern: /^[\x21-\x7e ]{1,8000}$/,
    allowed: 'entity ids separated by commas',
  }),
};

/** What SAML is told of them. */
export const samlSettings = (settings: {
  readonly SAML_PLAIN_HTTP_HOSTS: string | undefined;
  readonly SAML_UNSIGNED_RESPONSES: string | undefined;
}): SamlSettings => ({
  plainHttpHosts: commaSeparated(settings.SAML_PLAIN_HTTP_HOSTS),
  unsignedResponsesFrom: commaSeparated(settings.SAML_UNSIGNED_RESPONSES),
});
