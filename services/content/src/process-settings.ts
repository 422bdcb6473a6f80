import { blobSettings, identityUrl, serviceProcessSettings } from '@bindery/distributed/settings';
import { required } from '@bindery/service-kit';
import { contentSettings } from './settings.ts';

/** Every setting of the content service as a process of its own. */
export const contentProcessSettings = {
  ...contentSettings,
  ...serviceProcessSettings,
  ...blobSettings,
  IDENTITY_URL: identityUrl,
  DATA_DIR: required.text({
    description:
      'Directory for the search index of this replica; what is lost there is made anew from the events. In the images: /var/lib/bindery.',
    fallback: '/tmp/bindery',
  }),
};
