import {
  admissionSettings,
  keySettings,
  masterKeySetting,
  optional,
  processSettings,
  required,
  serviceTokenSettings,
} from '@bindery/service-kit';

/** What the processes of one instance share. */
const instanceSettings = {
  ...processSettings,
  HOST: required.text({ description: 'Address to listen on.', fallback: '0.0.0.0' }),
  PORT: required.integer({
    description: 'Port to listen on; 0 takes a free one.',
    fallback: 8080,
    min: 0,
    max: 65_535,
  }),
  ...serviceTokenSettings,
  MONGODB_URL: required.text({
    description: 'Server of the read models, as a MongoDB connection string.',
    pattern: /^mongodb(\+srv)?:\/\/\S+$/,
    allowed: 'mongodb://host:27017 or mongodb+srv://host',
    secret: true,
  }),
  MONGODB_DATABASE_PREFIX: required.text({
    description: 'What the names of the databases begin with; instances that share a server need different ones.',
    fallback: 'bindery',
    pattern: /^[a-z][a-z0-9_]{0,30}$/,
    allowed: 'lower-case letters, digits and _',
  }),
  REDIS_URL: required.text({
    description: 'Server of the cache and the rate limits.',
    pattern: /^rediss?:\/\/\S+$/,
    allowed: 'redis://user:password@host:6379/0 or rediss://…',
    secret: true,
  }),
  REDIS_PREFIX: required.text({
    description: 'What the keys begin with; instances that share a server need different ones.',
    fallback: 'bindery:',
    pattern: /^[\x21-\x7e]{1,40}$/,
    allowed: 'up to 40 characters',
  }),
};

/** An address, or several separated by commas. */
const replicas = (description: string) =>
  required.text({
    description,
    pattern: /^https?:\/\/[^\s,]+( *, *https?:\/\/[^\s,]+){0,63}$/,
    allowed: 'addresses like http://content:8080, separated by commas',
  });

/** Where the identity service is. */
export const identityUrl = replicas('Where the identity service is: one address, or one of each replica.');
/** Where the content service is. */
export const contentUrl = replicas('Where the content service is: one address, or one of each replica.');

/** Settings of the gateway's own process, beside those of the gateway itself. */
export const gatewayProcessSettings = {
  ...instanceSettings,
  PUBLIC_URL: required.url({ description: 'Address under which people reach the instance.' }),
  IDENTITY_URL: identityUrl,
  CONTENT_URL: contentUrl,
  DRAIN_MS: required.integer({
    description: 'At the end: how long it goes on to serve while it says that it is not ready, in ms.',
    fallback: 2000,
    min: 0,
    max: 60_000,
  }),
};

/** Settings of the message bus. */
export const kafkaSettings = {
  KAFKA_BROKERS: required.text({
    description: 'Brokers of the message bus, separated by commas.',
    pattern: /^[^\s,:]+:\d{1,5}( *, *[^\s,:]+:\d{1,5}){0,63}$/,
    allowed: 'host:9092,host:9092',
  }),
  KAFKA_SSL: required.flag({ description: 'Whether the brokers are spoken to over TLS.', fallback: false }),
  KAFKA_SSL_CA_FILE: optional.text({
    description: 'File (PEM) with the authorities that sign the certificates of the brokers; default: those of Node.',
    allowed: 'path of a file',
  }),
  KAFKA_SSL_CERTIFICATE_FILE: optional.text({
    description: 'File (PEM) with the certificate that the process shows to brokers that ask for one.',
    allowed: 'path of a file',
  }),
  KAFKA_SSL_KEY_FILE: optional.text({
    description: 'File (PEM) with the private key of that certificate.',
    allowed: 'path of a file',
  }),
  KAFKA_SASL_MECHANISM: optional.oneOf(['plain', 'scram-sha-256', 'scram-sha-512'], {
    description: 'How the process signs in at the brokers; not at all without it.',
  }),
  KAFKA_SASL_USERNAME: optional.text({ description: 'User at the brokers.' }),
  KAFKA_SASL_PASSWORD: optional.text({ description: 'Password at the brokers.', secret: true }),
  KAFKA_PARTITIONS: required.integer({
    description: 'Partitions of topics that are created; changing it later would break the order per key.',
    fallback: 12,
    min: 1,
    max: 1000,
  }),
  KAFKA_REPLICATION_FACTOR: optional.integer({
    description:
      'Copies of topics that are created, refused when there are fewer brokers; default: as many as the cluster permits, 3 at most.',
    min: 1,
    max: 9,
  }),
};

/** Settings of every service's own process. */
export const serviceProcessSettings = {
  ...instanceSettings,
  ...admissionSettings,
  PUBLIC_URL: required.url({ description: 'Address under which people reach the instance.' }),
  MASTER_KEY: required.text({
    description:
      'Key that wraps the key which protects personal data and signs addresses; the same in all processes. Losing it loses both.',
    ...masterKeySetting,
  }),
  ...keySettings,
  EVENTSTORE_URL: required.text({
    description: 'Server of the events, as an EventStoreDB connection string.',
    pattern: /^(esdb|kurrentdb|eventstore)(\+discover)?:\/\/\S+$/,
    allowed: 'esdb://host:2113?tls=true or esdb+discover://host:2113',
    secret: true,
  }),
  ...kafkaSettings,
  LEASE_MS: required.integer({
    description: 'After how long another replica takes over the work of one that is gone, in ms.',
    fallback: 6000,
    min: 1000,
    max: 60_000,
  }),
};

/** Settings of the blob store. */
export const blobSettings = {
  S3_ENDPOINT: required.url({ description: 'Where the S3-compatible store is.' }),
  S3_REGION: required.text({ description: 'Region of the bucket.', fallback: 'us-east-1' }),
  S3_BUCKET: required.text({
    description: 'Bucket for the bytes of files; it must exist.',
    pattern: /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
    allowed: 'the name of a bucket',
  }),
  S3_ACCESS_KEY_ID: required.text({ description: 'Key id for the bucket.', secret: true }),
  S3_SECRET_ACCESS_KEY: required.text({ description: 'Key for the bucket.', secret: true }),
  S3_PATH_STYLE: required.flag({
    description: 'Whether the bucket stands in the path rather than in the host name.',
    fallback: true,
  }),
};
