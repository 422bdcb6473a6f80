import { optional } from '@bindery/service-kit';

/** Settings of the content service, read from the environment by the composition root. */
export const contentSettings = {
  BINDERY_FETCH_ALLOW: optional.text({
    description:
      'Hosts, addresses and blocks, separated by commas, that files may be fetched from although they are not public.',
    pattern: /^[A-Za-z0-9.:/_,[\] -]{1,2000}$/,
    allowed: 'hosts, addresses or blocks separated by commas',
  }),
};
