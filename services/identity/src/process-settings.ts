import { contentUrl, serviceProcessSettings } from '@bindery/distributed/settings';
import { required } from '@bindery/service-kit';
import { acceptableToken } from './features/tokens/index.ts';
import { identitySettings } from './settings.ts';

/** Every setting of the identity service as a process of its own. */
export const identityProcessSettings = {
  ...identitySettings,
  ...serviceProcessSettings,
  CONTENT_URL: contentUrl,
  BINDERY_BOOTSTRAP_TOKEN: required.text({
    description: 'A token that works for the administrator, from the first start on.',
    pattern: acceptableToken,
    allowed: identitySettings.BINDERY_BOOTSTRAP_TOKEN.allowed,
    secret: true,
  }),
  DATA_DIR: required.text({
    description:
      'Directory for mail that is not sent, where no server for mail is set. In the images: /var/lib/bindery.',
    fallback: '/tmp/bindery',
  }),
};
